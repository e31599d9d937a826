/*
 * base64 - bytes as letters and back (RFC 4648 4), strictly: padded, no line
 * ends, and one text only for any bytes.
 *
 * Thread: any; no state.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

/* Room that base64_decode() needs for a text of len bytes. */
static inline size_t base64_room(size_t len)
{
    return len / 4 * 3;
}

void base64_put(struct buf *buf, struct bytes data);

/* Writes what text stands for to out, which may be where text lies. False: it
 * is no base64. */
MUST_USE bool base64_decode(struct bytes text, char *out, size_t *len_out);

#endif
