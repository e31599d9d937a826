/*
 * tls_hkdf - secrets that are made of secrets, as TLS 1.3 does it (RFC 8446
 * 7.1, RFC 5869).
 *
 * A handshake makes some twenty secrets, a few blocks of a digest each. They
 * are made with OpenSSL's plain digests: its HMAC and HKDF set up contexts for
 * each secret, which takes several times as long as the digest.
 *
 * Thread: one at a time, for a tls_hkdf.
 * Owns:   what it has made of the last secret, until told to forget.
 */
#ifndef IO_TLS_TLS_HKDF_H
#define IO_TLS_TLS_HKDF_H

#include "base/bytes.h"

enum tls_digest { TLS_SHA256, TLS_SHA384 };

enum { TLS_SECRET_MAX = 48 }; /* bytes of the longest digest */

struct tls_hkdf; /* opaque */

/* NULL: no memory. */
MUST_USE struct tls_hkdf *tls_hkdf_create(enum tls_digest digest);
void tls_hkdf_destroy(struct tls_hkdf *hkdf); /* NULL is ok */

/* The bytes of the digest, and so of each secret. */
MUST_USE size_t tls_hkdf_secret_bytes(const struct tls_hkdf *hkdf);

/* HKDF-Expand-Label: writes len bytes to out. False: the secret is not as long
 * as a digest, or what is wanted is longer than one, or label and context are
 * longer than any that the protocol has; nothing is written. */
MUST_USE bool tls_hkdf_expand(struct tls_hkdf *hkdf, struct bytes secret,
                              struct bytes label, struct bytes context,
                              unsigned char *out, size_t len);

/* HKDF-Extract of secret, salted with Derive-Secret(previous, "derived", "").
 * The early secret has no previous one (len 0); a secret of len 0 stands for as
 * many zeros as a digest has. False: previous is not as long as a digest. */
MUST_USE bool tls_hkdf_extract(struct tls_hkdf *hkdf, struct bytes previous,
                               struct bytes secret,
                               unsigned char out[TLS_SECRET_MAX]);

/* Wipes out what was made of the last secret. */
void tls_hkdf_forget(struct tls_hkdf *hkdf);

#endif
