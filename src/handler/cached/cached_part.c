#include "handler/cached/cached_fetch_priv.h"

/* --- Which part ---------------------------------------------------------- */

/* Returns the value of the only field of that name. Its data is NULL if there
 * is no such field, or if there are several. */
static struct bytes find_only(struct bytes lines, struct bytes name)
{
    struct bytes value = {NULL, 0};
    struct cached_line line;

    while (cached_head_next(&lines, &line)) {
        if (!bytes_ieq(line.name, name))
            continue;
        if (value.data)
            return (struct bytes){NULL, 0};
        value = line.value;
    }
    return value;
}

bool fetch_read_part(const struct fetch *fetch, struct range *range_out,
                     uint64_t *length_out)
{
    const struct response *response = &fetch->exchange.response;
    struct bytes value = find_only(fetched_lines(response),
                                   BYTES("Content-Range"));
    uint64_t bytes = fetch_body_length(fetch);

    return response->status == 206 && value.data &&
           cache_ranges_read(value, range_out, length_out) &&
           (bytes == CACHE_LENGTH_UNKNOWN ||
            bytes == range_out->last - range_out->first + 1);
}

bool fetch_asks_for_part(const struct fetch *fetch)
{
    const struct request *request = &fetch->exchange.request;

    /* A part that answers If-Range cannot be stored: it may lack fields that a
     * whole answer has (RFC 9110 15.3.7). */
    return !fetch->mends && request_find(request, FIELD_RANGE) &&
           !request_find(request, FIELD_IF_RANGE);
}

/* --- Joining ------------------------------------------------------------- */

bool fetch_is_same(const struct cache_facts *a, const struct cache_facts *b)
{
    return cache_facts_is_strong(a) && bytes_eq(a->etag, b->etag);
}

/* Makes an entry with the parts of `earlier` and the fetch's part. Returns NULL
 * if the parts belong to different representations, or are too many
 * together. */
static struct cache_entry *join(const struct fetch *fetch,
                                const struct cache_entry *earlier)
{
    const struct cache_store *store = fetch->cached->options.store;
    struct cache_circumstances circumstances = fetch_circumstances(fetch);
    struct cache_entry_parts parts = {
        .status = 206,
        .phrase = fetch->entry->phrase,
        .lines = fetched_lines(&fetch->exchange.response),
        .cost_ms = earlier->cost_ms + fetch->entry->cost_ms};
    struct cache_ranges *ranges;
    struct cache_entry *entry;

    if (!earlier->ranges ||
        earlier->ranges->length != fetch->entry->ranges->length ||
        !fetch_is_same(&earlier->facts, &fetch->entry->facts) ||
        !bytes_eq(earlier->names, fetch->entry->names) ||
        !bytes_eq(earlier->variant, fetch->entry->variant))
        return NULL;
    ranges = cache_ranges_join(earlier->ranges, fetch->entry->ranges,
                               cache_store_options_of(store)->object_max);
    entry = ranges ? cache_entry_update(earlier, &parts, &circumstances) : NULL;
    if (entry)
        entry->ranges = ranges;
    else
        cache_ranges_destroy(ranges);
    return entry;
}

void fetch_put_part(struct fetch *fetch)
{
    struct cache_store *store = fetch->cached->options.store;
    struct cache_entry *entry = NULL;
    struct cache_found found;

    cache_store_find(store, (struct bytes){fetch->key, fetch->key_len},
                     &fetch->exchange.request, &found);
    if (found.entry)
        entry = join(fetch, found.entry);
    if (!entry)
        entry = cache_entry_acquire(fetch->entry);
    /* A complete stored answer is worth more than a part. */
    if ((!found.entry || found.entry->ranges) &&
        cache_store_put(store, entry, NULL, fetch->epoch))
        cache_store_settle(store, entry);
    cache_entry_release(&entry);
    cache_found_release(&found);
}
