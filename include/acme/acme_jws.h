/*
 * acme_jws - a signed message as authorities want it: a JSON Web Signature in
 * its flattened form (RFC 7515 7.2.2, RFC 8555 6.2).
 *
 * Thread: any; no state.
 */
#ifndef ACME_ACME_JWS_H
#define ACME_ACME_JWS_H

#include "acme/acme_key.h"

struct acme_jws {
    const struct acme_key *key;
    const char *account; /* its URL; NULL: the key itself is put there */
    const char *nonce;   /* NULL: none, in a message inside another one */
    const char *url;
    struct bytes payload; /* empty: POST-as-GET */
};

/* Appends the signed message. False: no memory. */
MUST_USE bool acme_jws_put(const struct acme_jws *jws, struct buf *text);

/* Puts the binding of an account's key to one that the authority has given out
 * otherwise (RFC 8555 7.3.4), by its name and secret. */
MUST_USE bool acme_jws_put_binding(const struct acme_key *key, const char *name,
                                   struct bytes secret, const char *url,
                                   struct buf *text);

#endif
