/*
 * acme_key - a key that signs: of an account with an authority, or of a
 * certificate; and how JSON Web Signatures have it (RFC 7515, 7517, 7518,
 * 7638).
 *
 * Thread: any, one at a time.
 * Owns:   the key; a caller that gets a text with it wipes the text.
 */
#ifndef ACME_ACME_KEY_H
#define ACME_ACME_KEY_H

#include "base/buf.h"

enum acme_key_kind { ACME_KEY_P256, ACME_KEY_P384, ACME_KEY_RSA2048 };

enum { ACME_KEY_PEM_MAX = 16384, ACME_DIGEST_BYTES = 32 };

struct acme_key; /* opaque */

/* NULL: no memory, or no randomness. */
MUST_USE struct acme_key *acme_key_create(enum acme_key_kind kind);

/* Loads a key from PEM without a password; NULL: there is none of our kinds. */
MUST_USE struct acme_key *acme_key_load(struct bytes pem);
void acme_key_destroy(struct acme_key *key);

/* Appends the private key as PEM. False: no memory, as with all that put. */
MUST_USE bool acme_key_put_pem(const struct acme_key *key, struct buf *pem);

/* "ES256", as signatures name it. */
const char *acme_key_algorithm(const struct acme_key *key);

/* Puts the public half of the key, its members in the order that RFC 7638 3
 * wants. */
MUST_USE bool acme_key_put_jwk(const struct acme_key *key, struct buf *json);

/* Puts the thumbprint of the public half, in base64url (RFC 7638). */
MUST_USE bool acme_key_put_thumbprint(const struct acme_key *key,
                                      struct buf *text);

/* Puts the signature of text, in base64url (RFC 7518 3). */
MUST_USE bool acme_key_sign(const struct acme_key *key, struct bytes text,
                            struct buf *signature);

/* SHA-256 of text, and HMAC-SHA-256 of it under a secret. */
MUST_USE bool acme_digest(struct bytes text,
                          unsigned char digest[ACME_DIGEST_BYTES]);
MUST_USE bool acme_hmac(struct bytes secret, struct bytes text,
                        unsigned char digest[ACME_DIGEST_BYTES]);

#endif
