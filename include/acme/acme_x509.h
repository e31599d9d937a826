/*
 * acme_x509 - makes requests for certificates, certificates that answer
 * challenges, and ids of certificates.
 *
 * Thread: one thread at a time.
 */
#ifndef ACME_ACME_X509_H
#define ACME_ACME_X509_H

#include <stdint.h>

#include "acme/acme_key.h"
#include "base/texts.h"

/* Appends a certificate request (RFC 2986) for that key and these names, in
 * base64url. Returns false if there is no memory. */
MUST_USE bool acme_x509_put_request(const struct acme_key *key,
                                    const struct texts *names,
                                    struct buf *text);

/* Appends, as PEM, a certificate that answers a challenge for `name`, and its
 * key. `digest` is the digest of the key authorization (RFC 8737 3). Returns
 * false if there is no memory. */
MUST_USE bool acme_x509_put_challenge(
    const char *name, const unsigned char digest[ACME_DIGEST_BYTES],
    int64_t now_s, struct buf *pem);

/* Appends the id by which the authority knows the first certificate of a chain
 * in renewals (RFC 9773 4.1). Returns false if the certificate has no such
 * id. */
MUST_USE bool acme_x509_put_identifier(struct bytes chain, struct buf *text);

/* Appends the first certificate of a chain, as DER in base64url. Returns false
 * if the chain is empty, or if there is no memory. */
MUST_USE bool acme_x509_put_der(struct bytes chain, struct buf *text);

#endif
