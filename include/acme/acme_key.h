/*
 * acme_key - a signing key of an account or a certificate, and its form in JSON
 * Web Signatures (RFC 7515, 7517, 7518, 7638).
 *
 * Thread: one thread at a time.
 * Owns:   the key. The caller wipes texts that contain it.
 */
#ifndef ACME_ACME_KEY_H
#define ACME_ACME_KEY_H

#include "base/buf.h"

enum acme_key_kind { ACME_KEY_P256, ACME_KEY_P384, ACME_KEY_RSA2048 };

enum { ACME_KEY_PEM_MAX = 16384, ACME_DIGEST_BYTES = 32 };

struct acme_key; /* opaque */

/* Makes a new key. Returns NULL if there is no memory or randomness. */
MUST_USE struct acme_key *acme_key_create(enum acme_key_kind kind);

/* Loads a key from PEM without a password. Returns NULL if there is no key of a
 * known kind in `pem`. */
MUST_USE struct acme_key *acme_key_load(struct bytes pem);
void acme_key_destroy(struct acme_key *key);

/* Appends the private key as PEM. This function and those below return false if
 * there is no memory. */
MUST_USE bool acme_key_put_pem(const struct acme_key *key, struct buf *pem);

/* Returns the algorithm's name in signatures, such as "ES256". */
const char *acme_key_algorithm(const struct acme_key *key);

/* Appends the public key as a JWK, with its members in the order of RFC 7638
 * 3. */
MUST_USE bool acme_key_put_jwk(const struct acme_key *key, struct buf *json);

/* Appends the public key's thumbprint, in base64url (RFC 7638). */
MUST_USE bool acme_key_put_thumbprint(const struct acme_key *key,
                                      struct buf *text);

/* Appends the signature of `text`, in base64url (RFC 7518 3). */
MUST_USE bool acme_key_sign(const struct acme_key *key, struct bytes text,
                            struct buf *signature);

/* acme_digest() computes SHA-256 of `text`; acme_hmac() computes HMAC-SHA-256
 * of `text` under a secret. */
MUST_USE bool acme_digest(struct bytes text,
                          unsigned char digest[ACME_DIGEST_BYTES]);
MUST_USE bool acme_hmac(struct bytes secret, struct bytes text,
                        unsigned char digest[ACME_DIGEST_BYTES]);

#endif
