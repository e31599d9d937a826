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
    const char *account; /* account's URL; NULL: sends the public key */
    const char *nonce;   /* NULL if the message goes inside another */
    const char *url;
    struct bytes payload; /* empty: POST-as-GET */
};

/* Appends the signed message. Returns false if there is no memory. */
MUST_USE bool acme_jws_put(const struct acme_jws *jws, struct buf *text);

/* Appends a statement that binds an ACME account's key to an account that the
 * operator has with the authority already (RFC 8555 7.3.4). The authority gave
 * the operator `name` and `secret` for that account. */
MUST_USE bool acme_jws_put_binding(const struct acme_key *key, const char *name,
                                   struct bytes secret, const char *url,
                                   struct buf *text);

#endif
