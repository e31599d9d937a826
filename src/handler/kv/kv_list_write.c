#include "base/base64.h"
#include "base/utf8.h"
#include "handler/kv/kv_list_priv.h"

enum {
    /* The most bytes of a value written at a time: a multiple of 3, so that
     * base64 has no padding before the end of the value. */
    PIECE_BYTES = 1023,
    /* Room for a piece of a value and for the end of its entry. */
    PIECE_TEXT_BYTES = 6 * PIECE_BYTES + 8,
    END_BYTES_MAX = 2 * KV_CURSOR_BYTES_MAX + 40
};

_Static_assert((int)KV_ENTRY_BYTES_MAX <= (int)BODY_PIECE_BYTES &&
                   (int)PIECE_TEXT_BYTES <= (int)BODY_PIECE_BYTES &&
                   (int)END_BYTES_MAX <= (int)BODY_PIECE_BYTES,
               "any piece must fit one fill");

/* --- Writing ------------------------------------------------------------- */

/* Writes the cursor in hexadecimal, which needs no escapes in JSON or a URL. */
static void put_cursor(struct buf *out, struct bytes after)
{
    static const char digits[] = "0123456789abcdef";
    char *to = buf_reserve(out, 2 * after.len);

    if (!to)
        return;
    out->len += 2 * after.len;
    for (size_t i = 0; i < after.len; i++) {
        unsigned char byte = (unsigned char)after.data[i];

        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
}

static void keep_prefix(struct kv_listing *listing, struct bytes prefix)
{
    char len[2] = {(char)(prefix.len >> 8), (char)prefix.len};

    buf_put(&listing->prefixes, (struct bytes){len, 2});
    buf_put(&listing->prefixes, prefix);
}

/* Writes an entry up to its value. */
static void begin_entry(struct kv_listing *listing, struct buf *out,
                        const struct kv_entry *entry)
{
    if (!listing->is_ndjson)
        buf_put(out, listing->keys++ > 0 ? BYTES(",\n") : BYTES("\n"));
    buf_put_literal(out, "{");
    kv_put_entry(out, entry);
    listing->is_in_value = entry->value.data != NULL;
    if (!listing->is_in_value)
        return;
    listing->value_at = 0;
    listing->is_text = utf8_is_valid(entry->value);
    buf_put(out, listing->is_text ? BYTES(",\"value\":\"")
                                  : BYTES(",\"value64\":\""));
}

/* Returns the next piece of a value. A piece never ends within a character. */
static struct bytes next_piece(const struct kv_listing *listing,
                               struct bytes value)
{
    struct bytes piece = {value.data + listing->value_at,
                          value.len - listing->value_at};

    if (piece.len <= PIECE_BYTES)
        return piece;
    piece.len = PIECE_BYTES;
    while (listing->is_text &&
           ((unsigned char)piece.data[piece.len] & 0xC0) == 0x80)
        piece.len--;
    return piece;
}

/* Continues to write the value. Returns false if there is no room for the
 * rest. */
static bool put_value(struct kv_listing *listing, struct buf *out,
                      struct bytes value)
{
    while (listing->value_at < value.len) {
        struct bytes piece = next_piece(listing, value);

        if (text_source_room(out) < PIECE_TEXT_BYTES)
            return false;
        if (listing->is_text)
            buf_put_json(out, piece);
        else
            base64_put(out, piece);
        listing->value_at += piece.len;
    }
    buf_put_literal(out, "\"");
    listing->is_in_value = false;
    return true;
}

static void put_prefix(struct kv_listing *listing, struct buf *out,
                       struct bytes prefix)
{
    if (!listing->is_ndjson) {
        keep_prefix(listing, prefix);
        return;
    }
    kv_put_prefix(out, prefix);
    buf_put_literal(out, "\n");
}

bool kv_listing_put_entry(struct kv_listing *listing, struct buf *out,
                          const struct kv_entry *entry)
{
    if (entry->is_prefix) {
        put_prefix(listing, out, entry->key);
        return true;
    }
    if (!listing->is_in_value)
        begin_entry(listing, out, entry);
    if (listing->is_in_value && !put_value(listing, out, entry->value))
        return false;
    buf_put(out, listing->is_ndjson ? BYTES("}\n") : BYTES("}"));
    return true;
}

/* --- Behind the entries -------------------------------------------------- */

enum piece_state kv_listing_write_prefixes(struct kv_listing *listing,
                                           struct buf *out)
{
    const struct buf *prefixes = &listing->prefixes;

    if (listing->is_ndjson) {
        listing->stage = STAGE_END;
        return PIECE_MORE;
    }
    while (listing->prefixes_at < prefixes->len) {
        const unsigned char *at = (const unsigned char *)prefixes->data +
                                  listing->prefixes_at;
        size_t len = (size_t)at[0] << 8 | at[1];

        if (text_source_room(out) < KV_ENTRY_BYTES_MAX)
            return PIECE_MORE;
        buf_put(out, listing->prefixes_at > 0 ? BYTES(",\n")
                                              : BYTES("],\n\"prefixes\":["));
        kv_put_prefix(out, (struct bytes){(const char *)at + 2, len});
        listing->prefixes_at += 2 + len;
    }
    if (text_source_room(out) < END_BYTES_MAX)
        return PIECE_MORE;
    if (prefixes->len == 0)
        buf_put_literal(out, "],\n\"prefixes\":[");
    listing->stage = STAGE_END;
    return PIECE_MORE;
}

enum piece_state kv_listing_write_end(struct kv_listing *listing,
                                      struct buf *out)
{
    struct bytes after = {listing->after, listing->after_len};

    if (text_source_room(out) < END_BYTES_MAX)
        return PIECE_MORE;
    if (listing->is_ndjson) {
        if (after.len == 0)
            return PIECE_END;
        buf_put_literal(out, "{\"cursor\":\"");
        put_cursor(out, after);
        buf_put_literal(out, "\"}\n");
        return PIECE_END;
    }
    buf_put_literal(out, "],\n\"cursor\":");
    if (after.len > 0) {
        buf_put_literal(out, "\"");
        put_cursor(out, after);
        buf_put_literal(out, "\"}\n");
    } else {
        buf_put_literal(out, "null}\n");
    }
    return PIECE_END;
}
