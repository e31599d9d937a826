/*
 * base64 - encodes bytes as letters and decodes them (RFC 4648 4). Decoding is
 * strict: padding is required, line ends are refused, and each byte string has
 * exactly one valid text.
 *
 * Thread: any; no state.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

void base64_put(struct buf *buf, struct bytes data);

/* Decodes `text` into `out`, which needs room for text.len / 4 * 3 bytes, and
 * may be text.data itself. Returns false if `text` is not base64. */
MUST_USE bool base64_decode(struct bytes text, char *out, size_t *len_out);

/* The variants for URLs and JSON Web Signatures use '-' and '_', and no '=' at
 * the end (RFC 4648 5). `out` needs room for text.len / 4 * 3 + 3 bytes. */
void base64_put_url(struct buf *buf, struct bytes data);
MUST_USE bool base64_decode_url(struct bytes text, char *out, size_t *len_out);

#endif
