/*
 * kv_page - what listings of all stores have in common: the order of keys,
 * cursors, common prefixes.
 *
 * A cursor says what a page ended with: 'k' and a key, or 'p' and a common
 * prefix. Clients send it back, so it may be forged.
 *
 * Thread: any; no state.
 */
#ifndef KV_KV_PAGE_H
#define KV_KV_PAGE_H

#include "kv/kv_store.h"

/* Makes the answer empty. False: it stays so, since the cursor is invalid, or
 * the prefix is longer than any key. */
MUST_USE bool kv_page_begin(struct kv_page *page);

/* The key or prefix that the cursor holds; empty when there is no cursor. */
struct bytes kv_page_after(const struct kv_page *page, bool *is_prefix_out);

/* Compares keys as unsigned bytes: the result is below 0, 0 or above 0. */
int kv_key_compare(struct bytes a, struct bytes b);

static inline bool kv_key_begins_with(struct bytes key, struct bytes start)
{
    return key.len >= start.len &&
           (start.len == 0 || memcmp(key.data, start.data, start.len) == 0);
}

/* Replaces the prefix in out, len bytes long, by the least key behind all keys
 * that begin with it. Returns its length; 0: there is no such key. */
size_t kv_key_after_prefix(char *out, size_t len);

/* Finds the common prefix that stands for key in this page. False: the key
 * itself is listed. */
MUST_USE bool kv_page_find_common(const struct kv_page *page, struct bytes key,
                                  struct bytes *common_out);

/* Whether the page gives a value of so many bytes. */
static inline bool kv_page_takes_value(const struct kv_page *page, size_t bytes)
{
    return page->with_values && bytes <= KV_PAGE_VALUE_BYTES_MAX;
}

/* Whether the page has reached its limit of entries or of values' bytes. */
static inline bool kv_page_is_full(const struct kv_page *page)
{
    return page->count >= page->limit ||
           page->value_bytes >= KV_PAGE_VALUES_BYTES;
}

/* Adds a copy of entry. False: no memory. */
MUST_USE bool kv_page_add(struct kv_page *page, const struct kv_entry *entry);

/* Notes in the cursor that the page ended with last. False: no memory. */
MUST_USE bool kv_page_set_next(struct kv_page *page, struct bytes last,
                               bool is_prefix);

#endif
