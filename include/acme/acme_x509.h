/*
 * acme_x509 - makes requests for certificates, certificates that answer
 * challenges, and ids of certificates.
 *
 * Thread: any, one at a time.
 */
#ifndef ACME_ACME_X509_H
#define ACME_ACME_X509_H

#include <stdint.h>

#include "acme/acme_key.h"
#include "base/texts.h"

/* Appends a request (RFC 2986) for a certificate with that key and all names,
 * in base64url. False: no memory. */
MUST_USE bool acme_x509_put_request(const struct acme_key *key,
                                    const struct texts *names,
                                    struct buf *text);

/* Appends, as PEM, a certificate for name and its key that answers a challenge;
 * digest is that of the key authorization (RFC 8737 3). False: no memory. */
MUST_USE bool acme_x509_put_challenge(
    const char *name, const unsigned char digest[ACME_DIGEST_BYTES],
    int64_t now_s, struct buf *pem);

/* Appends the id by which the authority knows the first certificate of a chain
 * in renewals (RFC 9773 4.1). False: it has none. */
MUST_USE bool acme_x509_put_identifier(struct bytes chain, struct buf *text);

/* Appends the first certificate of a chain, in base64url of DER. */
MUST_USE bool acme_x509_put_der(struct bytes chain, struct buf *text);

#endif
