/*
 * tls_hkdf - derives secrets from secrets, as TLS 1.3 does it (RFC 8446 7.1,
 * RFC 5869).
 *
 * A handshake makes some twenty secrets of a few digest blocks each. They are
 * made with OpenSSL's plain digests, because OpenSSL's HMAC and HKDF set up
 * contexts for each secret, which takes several times as long as the digest.
 *
 * Thread: one at a time may use a tls_hkdf.
 * Owns:   intermediate values of the last secret, until tls_hkdf_forget().
 */
#ifndef IO_TLS_TLS_HKDF_H
#define IO_TLS_TLS_HKDF_H

#include "base/bytes.h"

enum tls_digest { TLS_SHA256, TLS_SHA384 };

enum { TLS_SECRET_MAX = 48 }; /* length of the longest digest */

struct tls_hkdf; /* opaque */

/* Returns NULL when memory is short. */
MUST_USE struct tls_hkdf *tls_hkdf_create(enum tls_digest digest);
void tls_hkdf_destroy(struct tls_hkdf *hkdf); /* NULL is ok */

/* Returns the length of the digest, which is the length of each secret. */
MUST_USE size_t tls_hkdf_secret_bytes(const struct tls_hkdf *hkdf);

/* HKDF-Expand-Label: writes `len` bytes to `out`. Returns false, and writes
 * nothing, when `secret` is not as long as a digest, when `len` is more than
 * the length of a digest, or when `label` or `context` is longer than any in
 * TLS 1.3. */
MUST_USE bool tls_hkdf_expand(struct tls_hkdf *hkdf, struct bytes secret,
                              struct bytes label, struct bytes context,
                              unsigned char *out, size_t len);

/* HKDF-Extract of `secret`, salted with Derive-Secret(previous, "derived", "").
 * `previous` is empty for the early secret, which has no previous one. An empty
 * `secret` stands for as many zeros as a digest has bytes. Returns false when
 * `previous` is neither empty nor as long as a digest. */
MUST_USE bool tls_hkdf_extract(struct tls_hkdf *hkdf, struct bytes previous,
                               struct bytes secret,
                               unsigned char out[TLS_SECRET_MAX]);

/* Wipes out what was computed from the last secret. */
void tls_hkdf_forget(struct tls_hkdf *hkdf);

#endif
