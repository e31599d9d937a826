/*
 * buf - text that grows up to a hard ceiling.
 *
 * Appending never fails at the call: what does not fit, or finds no memory,
 * marks the buffer as failed and is dropped, and the writer asks once at the
 * end. It starts in storage the owner lends (no allocation for the usual
 * text) and moves to the heap when that is full.
 *
 * Thread: the owner's.
 * Owns:   the heap memory, if any; never the lent storage.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdint.h>

#include "base/bytes.h"

struct buf {
    char *data;
    size_t len;
    size_t capacity;
    size_t max;    /* the most that len may become */
    char *storage; /* lent; data points here until it is outgrown */
    bool failed;
};

/* storage may be NULL when size is 0. */
void buf_init(struct buf *buf, char *storage, size_t size, size_t max);
void buf_fini(struct buf *buf);

/* What buf_reserve() does when there is no room. */
char *buf_grow(struct buf *buf, size_t more);

/* Makes room for more bytes behind len; NULL (and failed) when there is none.
 * The caller writes there and adds to len. The room is there in the usual case,
 * and this is on the hot path. */
static inline char *buf_reserve(struct buf *buf, size_t more)
{
    return buf->capacity - buf->len >= more ? buf->data + buf->len
                                            : buf_grow(buf, more);
}

static inline void buf_put(struct buf *buf, struct bytes text)
{
    char *to;

    if (text.len == 0)
        return; /* data may be NULL then */
    to = buf_reserve(buf, text.len);
    if (!to)
        return;
    memcpy(to, text.data, text.len);
    buf->len += text.len;
}

#define buf_put_literal(buf, literal) buf_put((buf), BYTES(literal))

/* Appends number in decimal. */
void buf_put_number(struct buf *buf, uint64_t number);

/* Appends as printf() does; slow, and so for the cold path. */
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *buf,
                                                      const char *format, ...);

static inline struct bytes buf_bytes(const struct buf *buf)
{
    return (struct bytes){buf->data, buf->len};
}

/* Appends text for HTML: the five characters with a meaning escaped; controls
 * and bytes that are no UTF-8 become U+FFFD. */
void buf_put_html(struct buf *buf, struct bytes text);

/* Appends the inside of a JSON string: quotes, backslashes and all that a
 * terminal might obey (utf8.h) escaped; bytes that are no UTF-8 become U+FFFD,
 * so that the result is valid. */
void buf_put_json(struct buf *buf, struct bytes text);

/* Appends text for a log line: bytes outside of visible ASCII and space, quotes
 * and backslashes as \xHH, so that nobody can forge a line. */
void buf_put_log(struct buf *buf, struct bytes text);

#endif
