/*
 * upstream_trust - reads which authorities a proxy trusts for servers over TLS,
 * and the certificate that it shows them: proxy-tls-ca, proxy-tls-certificate,
 * proxy-tls-certificate-key, proxy-tls-verify. For stores over TLS: kv-tls-ca,
 * kv-tls-certificate, kv-tls-certificate-key.
 *
 * The system's authorities are read only at the start, since the sandbox hides
 * them later: a reload keeps them. Files that the options name are read again
 * by each reload.
 *
 * --test reads all of these files that its user may read.
 *
 * Thread: the main thread's.
 * Owns:   nothing; the trust is the caller's.
 */
#ifndef CONFIG_CERTIFICATES_UPSTREAM_TRUST_H
#define CONFIG_CERTIFICATES_UPSTREAM_TRUST_H

#include "config/options.h"
#include "io/tls/tls_connector.h"

enum { UPSTREAM_TRUST_FAULT_MAX = 600 };

struct upstream_trust_fault {
    const char *option; /* the option that names the bad file */
    int status;         /* exit status */
    char text[UPSTREAM_TRUST_FAULT_MAX];
};

/* Makes the trust for servers that are asked over TLS, in options that were
 * checked and name such a server. before: the trust of the configuration being
 * replaced, or NULL; earlier: that of the one before it, or NULL. False: fault
 * says why. */
MUST_USE bool upstream_trust_open(struct tls_trust **trust_out,
                                  const struct options *options,
                                  struct tls_trust *before,
                                  const struct options *earlier,
                                  struct upstream_trust_fault *fault);

/* Makes the trust of rediss:// stores likewise; a reload does not change it. */
MUST_USE bool upstream_trust_open_kv(struct tls_trust **trust_out,
                                     const struct options *options,
                                     struct upstream_trust_fault *fault);

#endif
