/*
 * upstream_trust - reads the authorities that a proxy trusts for servers over
 * TLS, and the certificate that it shows to them (proxy-tls-ca,
 * proxy-tls-certificate, proxy-tls-certificate-key, proxy-tls-verify). The
 * options for stores over TLS are kv-tls-ca, kv-tls-certificate and
 * kv-tls-certificate-key.
 *
 * A reload reads the files in the options again. The system's authorities are
 * read only at the start, since the sandbox hides them later.
 *
 * --test skips files that its user may not read.
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
    int status;         /* status with which the program must exit */
    char text[UPSTREAM_TRUST_FAULT_MAX];
};

/* Makes the trust by which proxies verify servers that they ask over TLS.
 * `options` was checked, and names such a server. `before` is the trust of the
 * configuration that is being replaced, and `earlier` has that configuration's
 * options; both may be NULL. Returns false, with the reason in `fault`, if the
 * trust cannot be made. */
MUST_USE bool upstream_trust_open(struct tls_trust **trust_out,
                                  const struct options *options,
                                  struct tls_trust *before,
                                  const struct options *earlier,
                                  struct upstream_trust_fault *fault);

/* Makes the trust for rediss:// stores. Does the same as upstream_trust_open(),
 * but is called only at the start: a reload does not change this trust. */
MUST_USE bool upstream_trust_open_kv(struct tls_trust **trust_out,
                                     const struct options *options,
                                     struct upstream_trust_fault *fault);

#endif
