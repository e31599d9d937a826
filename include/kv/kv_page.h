/*
 * kv_page - what listings of all stores have in common: the order of keys,
 * cursors, common prefixes.
 *
 * A cursor holds the end of a page: 'k' and the last key, or 'p' and the last
 * common prefix. Clients send the cursor back, so a cursor may be forged.
 *
 * Thread: any; no state.
 */
#ifndef KV_KV_PAGE_H
#define KV_KV_PAGE_H

#include "kv/kv_store.h"

/* Makes the page's answer empty. Returns false if the empty answer is final,
 * because the cursor is invalid or the prefix is longer than any key. */
MUST_USE bool kv_page_begin(struct kv_page *page);

/* Returns the key or prefix that the cursor holds; an empty text if there is no
 * cursor. */
struct bytes kv_page_after(const struct kv_page *page, bool *is_prefix_out);

/* Compares keys as unsigned bytes. Returns a number below 0, 0, or above 0. */
int kv_key_compare(struct bytes a, struct bytes b);

static inline bool kv_key_begins_with(struct bytes key, struct bytes start)
{
    return key.len >= start.len &&
           (start.len == 0 || memcmp(key.data, start.data, start.len) == 0);
}

/* `out` holds a prefix of `len` bytes. The function replaces the prefix by the
 * smallest key that follows all keys with this prefix, and returns the key's
 * length; 0 if no key can follow. */
size_t kv_key_after_prefix(char *out, size_t len);

/* Finds the common prefix that is listed instead of `key`. Returns false if the
 * key itself is listed. */
MUST_USE bool kv_page_find_common(const struct kv_page *page, struct bytes key,
                                  struct bytes *common_out);

/* Whether the page includes a value of this length. */
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

/* Adds a copy of `entry` to the page. Returns false if there is no memory. */
MUST_USE bool kv_page_add(struct kv_page *page, const struct kv_entry *entry);

/* Sets the page's cursor `next` to `last`, the key or prefix at the page's end.
 * Returns false if there is no memory. */
MUST_USE bool kv_page_set_next(struct kv_page *page, struct bytes last,
                               bool is_prefix);

#endif
