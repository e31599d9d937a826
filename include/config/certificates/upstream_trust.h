/*
 * upstream_trust - reads which servers a proxy believes over TLS, and what it
 * shows them: proxy-tls-ca, proxy-tls-certificate, proxy-tls-certificate-key,
 * proxy-tls-verify. The same of stores that are asked over TLS: kv-tls-ca,
 * kv-tls-certificate, kv-tls-certificate-key.
 *
 * The system's authorities are read once, at the start, since a sandbox keeps
 * them out later on: a reload goes on with them. Files that the options name
 * are read again by each reload.
 *
 * --test reads all of it, too, as far as its user may.
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
    const char *option; /* whose file it is */
    int status;         /* to exit with */
    char text[UPSTREAM_TRUST_FAULT_MAX];
};

/* Makes what servers asked over TLS are trusted by; options have been checked,
 * and name such a server. before, earlier: the trust of the configuration that
 * is to be replaced, and of the one before it; NULL: there is none. False:
 * fault says why. */
MUST_USE bool upstream_trust_open(struct tls_trust **trust_out,
                                  const struct options *options,
                                  struct tls_trust *before,
                                  const struct options *earlier,
                                  struct upstream_trust_fault *fault);

/* Opens the trust of rediss:// stores likewise; a reload leaves those as they
 * are. */
MUST_USE bool upstream_trust_open_kv(struct tls_trust **trust_out,
                                     const struct options *options,
                                     struct upstream_trust_fault *fault);

#endif
