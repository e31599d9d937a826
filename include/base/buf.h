/*
 * buf - text that grows up to a hard ceiling.
 *
 * Appending reports no error. Text that exceeds the ceiling, or finds no
 * memory, is dropped and marks the buffer as failed; the writer checks the mark
 * once at the end. The text begins in storage that the owner provides, so that
 * short texts need no allocation, and moves to the heap when the storage is
 * full.
 *
 * Thread: the owner's.
 * Owns:   the heap memory, if any; never the owner's storage.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdint.h>

#include "base/bytes.h"

struct buf {
    char *data;
    size_t len;
    size_t capacity;
    size_t max;    /* the most that `len` may be */
    char *storage; /* the owner's memory, which `data` points to at first */
    bool failed;
};

/* Makes an empty text of at most `max` bytes, which begins in the `size` bytes
 * of `storage`. If `size` is 0, `storage` may be NULL. */
void buf_init(struct buf *buf, char *storage, size_t size, size_t max);
void buf_fini(struct buf *buf);

/* The slow path of buf_reserve(), for a buffer without enough room. */
char *buf_grow(struct buf *buf, size_t more);

/* Makes room for `more` bytes at the end of the text, and returns a pointer to
 * the room. The caller writes there, and then raises buf->len. Without room,
 * marks the buffer as failed and returns NULL. The function is inline because
 * it is on the hot path. */
static inline char *buf_reserve(struct buf *buf, size_t more)
{
    return buf->capacity - buf->len >= more ? buf->data + buf->len
                                            : buf_grow(buf, more);
}

static inline void buf_put(struct buf *buf, struct bytes text)
{
    char *to;

    if (text.len == 0)
        return; /* text.data may be NULL */
    to = buf_reserve(buf, text.len);
    if (!to)
        return;
    memcpy(to, text.data, text.len);
    buf->len += text.len;
}

#define buf_put_literal(buf, literal) buf_put((buf), BYTES(literal))

/* Appends `number` in decimal. */
void buf_put_number(struct buf *buf, uint64_t number);

/* Appends text as printf() does. The function is slow, so the hot path must not
 * use it. */
__attribute__((format(printf, 2, 3))) void buf_printf(struct buf *buf,
                                                      const char *format, ...);

static inline struct bytes buf_bytes(const struct buf *buf)
{
    return (struct bytes){buf->data, buf->len};
}

/* Appends text for HTML. The five characters with a meaning in HTML are
 * escaped; control characters and bytes that are not UTF-8 become U+FFFD. */
void buf_put_html(struct buf *buf, struct bytes text);

/* Appends text as the inside of a JSON string. Quotes, backslashes and all
 * characters that a terminal might obey (utf8.h) are escaped. Bytes that are
 * not UTF-8 become U+FFFD, so that the result is valid. */
void buf_put_json(struct buf *buf, struct bytes text);

/* Appends text for a log line. Quotes, backslashes and all bytes except visible
 * ASCII and the space become \xHH, so that no client can forge a line. */
void buf_put_log(struct buf *buf, struct bytes text);

#endif
