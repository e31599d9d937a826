/*
 * listing_priv - the text of a listing; shared by listing.c, which reads the
 * directory, and listing_page.c, which writes what was read.
 */
#ifndef HANDLER_LISTING_PRIV_H
#define HANDLER_LISTING_PRIV_H

#include <stdint.h>

#include "base/buf.h"
#include "handler/listing.h"

/* What the writer may append at a time; both lie below BODY_PIECE_BYTES.
 *
 * An entry: a link of at most 3 bytes a byte of the name and a text of at
 * most 6 ("&quot;", "\u0001"), and markup, size and time around them. */
enum { LISTING_NAME_BYTES_MAX = 1024, LISTING_OUTRO_BYTES_MAX = 4096 };

static inline size_t listing_entry_bytes_max(size_t name_len)
{
    return (3 + 6) * name_len + 256;
}

enum listing_kind { LISTING_FILE, LISTING_DIRECTORY, LISTING_OTHER };

struct listing_entry {
    struct bytes name;
    enum listing_kind kind;
    uint64_t bytes;   /* of a LISTING_FILE */
    int64_t modified; /* seconds since the epoch */
};

/* What comes before the entries; as long as the path makes it. */
void listing_put_intro(struct buf *out, enum listing_format format,
                       struct bytes path);

/* The entry that comes after index others. */
void listing_put_entry(struct buf *out, enum listing_format format,
                       const struct listing_entry *entry, uint64_t index);

/* What comes after count entries. */
void listing_put_outro(struct buf *out, enum listing_format format,
                       uint64_t count);

#endif
