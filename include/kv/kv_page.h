/*
 * kv_page - what listings of all stores have in common: the order of keys,
 * cursors, common prefixes.
 *
 * A cursor says what a page ended with: 'k' and a key, or 'p' and a common
 * prefix; it may come from a stranger.
 *
 * Thread: any; no state.
 */
#ifndef KV_KV_PAGE_H
#define KV_KV_PAGE_H

#include "kv/kv_store.h"

/* Makes the answer empty. False: that is the whole answer, for the cursor is
 * none, or no key is so long as the prefix. */
MUST_USE bool kv_page_begin(struct kv_page *page);

/* What the cursor says; empty without one. */
struct bytes kv_page_after(const struct kv_page *page, bool *is_prefix_out);

/* Compares keys as unsigned bytes: below 0, 0 or above it. */
int kv_key_compare(struct bytes a, struct bytes b);

static inline bool kv_key_begins_with(struct bytes key, struct bytes start)
{
    return key.len >= start.len &&
           (start.len == 0 || memcmp(key.data, start.data, start.len) == 0);
}

/* Makes of prefix (out holds its bytes) the least key behind all that begin
 * with it; returns its length, 0: there is none. */
size_t kv_key_after_prefix(char *out, size_t len);

/* Finds the common prefix that a key of the page is told as. False: it is told
 * itself. */
MUST_USE bool kv_page_find_common(const struct kv_page *page, struct bytes key,
                                  struct bytes *common_out);

/* Whether the page is to have this value. */
static inline bool kv_page_takes_value(const struct kv_page *page, size_t bytes)
{
    return page->with_values && bytes <= KV_PAGE_VALUE_BYTES_MAX;
}

/* Whether the page has as many entries, or as much of values, as it may. */
static inline bool kv_page_is_full(const struct kv_page *page)
{
    return page->count >= page->limit ||
           page->value_bytes >= KV_PAGE_VALUES_BYTES;
}

/* Adds a copy of entry. False: no memory. */
MUST_USE bool kv_page_add(struct kv_page *page, const struct kv_entry *entry);

/* The page ended with that. False: no memory. */
MUST_USE bool kv_page_set_next(struct kv_page *page, struct bytes last,
                               bool is_prefix);

#endif
