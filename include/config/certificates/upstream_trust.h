/*
 * upstream_trust - reads the authorities that a proxy trusts for servers over
 * TLS, and the certificate that it shows to them (proxy-tls-ca,
 * proxy-tls-certificate, proxy-tls-certificate-key, proxy-tls-verify). For
 * stores over TLS likewise: kv-tls-ca, kv-tls-certificate,
 * kv-tls-certificate-key.
 *
 * The system's authorities are read only at the start, since the sandbox hides
 * them later; a reload keeps them. A reload reads all files that the options
 * name again.
 *
 * --test reads those of these files that its user may read.
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

/* Makes the trust for servers that are asked over TLS. options were checked,
 * and name such a server. `before` is the trust of the configuration that is
 * being replaced, and `earlier` are that configuration's options; both may be
 * NULL. Returns false with the reason in fault. */
MUST_USE bool upstream_trust_open(struct tls_trust **trust_out,
                                  const struct options *options,
                                  struct tls_trust *before,
                                  const struct options *earlier,
                                  struct upstream_trust_fault *fault);

/* Makes the trust for rediss:// stores likewise. A reload does not change
 * it. */
MUST_USE bool upstream_trust_open_kv(struct tls_trust **trust_out,
                                     const struct options *options,
                                     struct upstream_trust_fault *fault);

#endif
