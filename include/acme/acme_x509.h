/*
 * acme_x509 - what is asked of an authority, and what comes of it: requests for
 * certificates, certificates that answer challenges, and names of certificates.
 *
 * Thread: any, one at a time.
 */
#ifndef ACME_ACME_X509_H
#define ACME_ACME_X509_H

#include <stdint.h>

#include "acme/acme_key.h"
#include "base/texts.h"

/* Puts a request for a certificate of that key for all names (RFC 2986), in
 * base64url. False: no memory. */
MUST_USE bool acme_x509_put_request(const struct acme_key *key,
                                    const struct texts *names,
                                    struct buf *text);

/* Puts, as PEM, a certificate for name with its key that answers a challenge
 * with that digest of its key authorisation (RFC 8737 3). False: no memory. */
MUST_USE bool acme_x509_put_challenge(
    const char *name, const unsigned char digest[ACME_DIGEST_BYTES],
    int64_t now_s, struct buf *pem);

/* Puts by what name the authority knows the first certificate of a chain, when
 * asked for its renewal (RFC 9773 4.1). False: it has no such name. */
MUST_USE bool acme_x509_put_identifier(struct bytes chain, struct buf *text);

/* Puts that certificate itself, in base64url of DER. */
MUST_USE bool acme_x509_put_der(struct bytes chain, struct buf *text);

#endif
