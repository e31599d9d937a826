/*
 * acme_jws - signed messages for authorities: JSON Web Signatures in flattened
 * form (RFC 7515 7.2.2, RFC 8555 6.2).
 *
 * Thread: any; no state.
 */
#ifndef ACME_ACME_JWS_H
#define ACME_ACME_JWS_H

#include "acme/acme_key.h"

struct acme_jws {
    const struct acme_key *key;
    const char *account; /* account's URL; NULL: the public key instead */
    const char *nonce;   /* NULL: none, for a message inside another */
    const char *url;
    struct bytes payload; /* empty: POST-as-GET */
};

/* Appends the signed message. Returns false if there is no memory. */
MUST_USE bool acme_jws_put(const struct acme_jws *jws, struct buf *text);

/* Appends the binding of an account's key to an existing account that the
 * customer has with the authority. name and secret come from the authority (RFC
 * 8555 7.3.4). */
MUST_USE bool acme_jws_put_binding(const struct acme_key *key, const char *name,
                                   struct bytes secret, const char *url,
                                   struct buf *text);

#endif
