/*
 * kv_list_priv - shared by kv_list.c, which asks the store, and
 * kv_list_write.c, which writes the answer and is called by kv_list.c.
 */
#ifndef HANDLER_KV_KV_LIST_PRIV_H
#define HANDLER_KV_KV_LIST_PRIV_H

#include "handler/kv/kv_priv.h"

enum stage {
    STAGE_ASKING, /* no head was made yet */
    STAGE_ENTRIES,
    STAGE_PREFIXES,
    STAGE_END
};

struct kv_listing {
    /* Must be the first member, since it is cast to struct kv_listing. */
    struct kv_question question;
    struct pending pending;
    struct text_source text;
    struct kv_page page;
    enum stage stage;
    bool is_ndjson;
    bool has_begun; /* some text was written */
    bool with_values;
    bool is_in_value; /* the next entry is written up to its value */
    bool is_text;     /* the value is written as text, not as base64 */
    uint64_t asker; /* key of the address that pays for the listing's memory */
    size_t value_at;
    size_t values_left; /* bytes of values that may still be written */
    size_t limit;       /* entries still to be asked for */
    size_t at;          /* index of the next entry to write */
    uint64_t keys;
    size_t prefixes_at;
    struct buf prefixes; /* each prefix follows its length, of two bytes */
    size_t after_len;
    char after[KV_CURSOR_BYTES_MAX];
    size_t prefix_len;
    size_t delimiter_len;
    char texts[]; /* prefix and delimiter */
};

/* Writes an entry. Returns false if a part of the entry is left for the next
 * call. `out` must have room for KV_ENTRY_BYTES_MAX. */
MUST_USE bool kv_listing_put_entry(struct kv_listing *listing, struct buf *out,
                                   const struct kv_entry *entry);

/* These write the text behind all entries. */
enum piece_state kv_listing_write_prefixes(struct kv_listing *listing,
                                           struct buf *out);
enum piece_state kv_listing_write_end(struct kv_listing *listing,
                                      struct buf *out);

#endif
