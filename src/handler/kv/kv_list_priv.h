/*
 * kv_list_priv - what kv_list.c, which asks the store, and kv_list_write.c,
 * which writes what the store said, share. The upper one calls the lower one.
 */
#ifndef HANDLER_KV_KV_LIST_PRIV_H
#define HANDLER_KV_KV_LIST_PRIV_H

#include "handler/kv/kv_priv.h"

enum stage {
    STAGE_ASKING, /* there is no head yet */
    STAGE_ENTRIES,
    STAGE_PREFIXES,
    STAGE_END
};

struct kv_listing {
    struct kv_question question; /* first: the same address */
    struct pending pending;
    struct text_source text;
    struct kv_page page;
    enum stage stage;
    bool is_ndjson;
    bool has_begun; /* to write */
    bool with_values;
    bool is_in_value; /* of the next entry: all before it is written */
    bool is_text;     /* the value is */
    size_t value_at;
    size_t values_left; /* how much of values may follow; likewise: */
    size_t limit; /* how many may follow those that the store was asked for */
    size_t at;    /* the next entry to write */
    uint64_t keys;
    size_t prefixes_at;
    struct buf prefixes; /* each behind two bytes with its length */
    size_t after_len;
    char after[KV_CURSOR_BYTES_MAX];
    size_t prefix_len;
    size_t delimiter_len;
    char texts[]; /* prefix and delimiter */
};

/* False: some of it is left, to be written next. There must be room for
 * KV_ENTRY_BYTES_MAX. */
MUST_USE bool kv_listing_put_entry(struct kv_listing *listing, struct buf *out,
                                   const struct kv_entry *entry);

/* Write what stands behind all entries. */
enum piece_state kv_listing_write_prefixes(struct kv_listing *listing,
                                           struct buf *out);
enum piece_state kv_listing_write_end(struct kv_listing *listing,
                                      struct buf *out);

#endif
