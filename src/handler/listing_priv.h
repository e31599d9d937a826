/*
 * listing_priv - shared by listing.c, which reads the directory, and
 * listing_page.c, which writes its text.
 */
#ifndef HANDLER_LISTING_PRIV_H
#define HANDLER_LISTING_PRIV_H

#include <stdint.h>

#include "base/buf.h"
#include "handler/listing.h"

/* The most bytes of an entry's name, and of the text behind all entries. With
 * these limits, the writer never appends more than BODY_PIECE_BYTES at a
 * time. */
enum { LISTING_NAME_BYTES_MAX = 1024, LISTING_OUTRO_BYTES_MAX = 4096 };

/* Returns the most bytes of an entry: for each byte of its name at most 3 bytes
 * in the link and 6 bytes in the text ("&quot;", "\u0001"), then markup, size
 * and time. */
static inline size_t listing_entry_bytes_max(size_t name_len)
{
    return (3 + 6) * name_len + 256;
}

enum listing_kind { LISTING_FILE, LISTING_DIRECTORY, LISTING_OTHER };

struct listing_entry {
    struct bytes name;
    enum listing_kind kind;
    uint64_t bytes;   /* size of a LISTING_FILE */
    int64_t modified; /* seconds since the epoch */
};

/* Puts the text before the entries; its length depends on the path. */
void listing_put_intro(struct buf *out, enum listing_format format,
                       struct bytes path);

/* Puts an entry. `index` is the number of entries put before. */
void listing_put_entry(struct buf *out, enum listing_format format,
                       const struct listing_entry *entry, uint64_t index);

/* Puts the text behind all entries, `count` in number. */
void listing_put_outro(struct buf *out, enum listing_format format,
                       uint64_t count);

#endif
