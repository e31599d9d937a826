/*
 * base64 - bytes as letters and back (RFC 4648 4), strictly: padded, no line
 * ends, and one text only for any bytes.
 *
 * Thread: any; no state.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

void base64_put(struct buf *buf, struct bytes data);

/* Writes what text stands for to out, which has room for text.len / 4 * 3 bytes
 * and may be where text lies. False: it is no base64. */
MUST_USE bool base64_decode(struct bytes text, char *out, size_t *len_out);

/* These use '-' and '_' and no '=' at the end (RFC 4648 5), as URLs and JSON
 * Web Signatures do; out has room for text.len / 4 * 3 + 3. */
void base64_put_url(struct buf *buf, struct bytes data);
MUST_USE bool base64_decode_url(struct bytes text, char *out, size_t *len_out);

#endif
