#include "cache/cache_record.h"

enum { HAS_BODY = 1, IS_PURGED = 2 };

struct fixed {
    int64_t born_s;
    int64_t lifetime_s;
    int64_t date_s;
    uint32_t status;
    uint32_t cost_ms;
    uint32_t flags;
    uint32_t key_len;
    uint32_t names_len;
    uint32_t variant_len;
    uint32_t phrase_len;
    uint32_t lines_len;
};

void cache_record_put(const struct cache_entry *entry, struct buf *out)
{
    bool is_purged = atomic_load_explicit(&entry->is_purged,
                                          memory_order_relaxed);
    struct fixed fixed = {.born_s = entry->facts.born_s,
                          .lifetime_s = entry->facts.lifetime_s,
                          .date_s = entry->facts.date_s,
                          .status = entry->facts.status,
                          .cost_ms = entry->cost_ms,
                          .flags = (entry->has_body ? HAS_BODY : 0u) |
                                   (is_purged ? IS_PURGED : 0u),
                          .key_len = (uint32_t)entry->key.len,
                          .names_len = (uint32_t)entry->names.len,
                          .variant_len = (uint32_t)entry->variant.len,
                          .phrase_len = (uint32_t)entry->phrase.len,
                          .lines_len = (uint32_t)(entry->lines.len +
                                                  entry->hidden.len)};

    buf_put(out, (struct bytes){(const char *)&fixed, sizeof(fixed)});
    buf_put(out, entry->key);
    buf_put(out, entry->names);
    buf_put(out, entry->variant);
    buf_put(out, entry->phrase);
    buf_put(out, entry->lines);
    buf_put(out, entry->hidden);
}

/* Takes len bytes off the record, which has that many. */
static struct bytes take(struct bytes *record, size_t len)
{
    struct bytes taken = {record->data, len};

    record->data += len;
    record->len -= len;
    return taken;
}

static bool fits(const struct fixed *fixed, size_t left)
{
    uint64_t len = (uint64_t)fixed->key_len + fixed->names_len +
                   fixed->variant_len + fixed->phrase_len + fixed->lines_len;

    return len == left && fixed->key_len > 0;
}

struct cache_entry *cache_record_read(struct bytes record,
                                      struct bytes surrogate)
{
    struct cache_circumstances when = {.may_guess = true,
                                       .surrogate = surrogate};
    struct cache_entry_parts parts = {.body = NULL};
    struct cache_entry *entry;
    struct fixed fixed;

    if (record.len < sizeof(fixed))
        return NULL;
    memcpy(&fixed, take(&record, sizeof(fixed)).data, sizeof(fixed));
    if (!fits(&fixed, record.len))
        return NULL;
    when.asked_s = when.came_s = fixed.date_s;
    parts.status = fixed.status;
    parts.cost_ms = fixed.cost_ms;
    parts.key = take(&record, fixed.key_len);
    parts.names = take(&record, fixed.names_len);
    parts.variant = take(&record, fixed.variant_len);
    parts.phrase = take(&record, fixed.phrase_len);
    parts.lines = take(&record, fixed.lines_len);
    entry = cache_entry_create(&parts, &when);
    if (!entry)
        return NULL;
    entry->facts.born_s = fixed.born_s;
    entry->facts.lifetime_s = fixed.lifetime_s;
    entry->facts.date_s = fixed.date_s;
    entry->has_body = fixed.flags & HAS_BODY;
    atomic_store_explicit(&entry->is_purged, fixed.flags & IS_PURGED,
                          memory_order_relaxed);
    return entry;
}
