#include "cache/cache_entry.h"

#include <stdlib.h>

#include "cache/cached_head.h"
#include "http/date.h"

enum { LINES_BYTES_MAX = 131072 };

static struct bytes put(char **at, struct bytes text)
{
    struct bytes copy = {*at, text.len};

    if (text.data) /* an empty text may have no data */
        memcpy(*at, text.data, text.len);
    *at += text.len;
    return copy;
}

/* Points the facts to the lines that are kept. Before that the facts point to
 * the same text in the lines as they came. */
static void point_to_kept(struct cache_entry *entry)
{
    struct bytes lines = entry->lines;
    struct cache_circumstances none = {.came_s = 0};
    struct cache_facts kept;

    cache_facts_read(&kept, entry->facts.status, lines, &none);
    entry->facts.etag = kept.etag;
    if (entry->facts.modified.len > 0)
        entry->facts.modified = cached_head_find(lines, BYTES("Last-Modified"));
    entry->facts.control.no_cache_fields = BYTES(""); /* these are not kept */
    entry->facts.control.private_fields = BYTES("");
    if (!cached_head_is_listed(entry->names, BYTES("accept-encoding")))
        entry->codings = cached_head_find(lines, BYTES("Content-Encoding"));
}

static struct cache_entry *make(const struct cache_entry_parts *parts,
                                struct bytes lines, struct bytes hidden)
{
    size_t bytes = parts->key.len + parts->names.len + parts->variant.len +
                   parts->phrase.len + lines.len + hidden.len;
    struct cache_entry *entry = calloc(1, sizeof(*entry) + bytes);
    char *at;

    if (!entry)
        return NULL;
    at = entry->text;
    entry->key = put(&at, parts->key);
    entry->names = put(&at, parts->names);
    entry->variant = put(&at, parts->variant);
    entry->phrase = put(&at, parts->phrase);
    entry->lines = put(&at, lines);
    entry->hidden = put(&at, hidden);
    entry->cost_ms = parts->cost_ms;
    entry->body = parts->body ? cache_body_acquire(parts->body) : NULL;
    entry->has_body = parts->body;
    atomic_init(&entry->refs, 1);
    atomic_init(&entry->retry_s, 0);
    atomic_init(&entry->has_answered, false);
    atomic_init(&entry->is_purged, false);
    return entry;
}

/* Adds a Date to an answer without one: the time at which it came (RFC 9110
 * 6.6.1). */
static void put_date(struct buf *lines, int64_t came_s)
{
    char date[DATE_LEN];

    date_format(came_s, date);
    buf_put_literal(lines, "Date: ");
    buf_put(lines, (struct bytes){date, sizeof(date)});
    buf_put_literal(lines, "\r\n");
}

struct cache_entry *cache_entry_create(const struct cache_entry_parts *parts,
                                       const struct cache_circumstances
                                           *circumstances)
{
    struct cache_facts facts;
    struct cache_entry *entry = NULL;
    struct buf shown, hidden;

    cache_facts_read(&facts, parts->status, parts->lines, circumstances);
    buf_init(&shown, NULL, 0, LINES_BYTES_MAX);
    buf_init(&hidden, NULL, 0, LINES_BYTES_MAX);
    cached_head_keep(parts->lines, &facts.control, &shown, &hidden);
    if (!facts.has_date)
        put_date(&shown, circumstances->came_s);
    facts.has_date = true;
    if (!shown.failed && !hidden.failed)
        entry = make(parts, buf_bytes(&shown), buf_bytes(&hidden));
    buf_fini(&shown);
    buf_fini(&hidden);
    if (!entry)
        return NULL;
    entry->facts = facts;
    point_to_kept(entry);
    return entry;
}

struct cache_entry *cache_entry_update(
    const struct cache_entry *earlier, const struct cache_entry_parts *parts,
    const struct cache_circumstances *circumstances)
{
    struct cache_entry_parts updated = *parts;
    struct cache_entry *entry = NULL;
    struct buf stored, lines;

    updated.key = earlier->key;
    updated.names = earlier->names;
    updated.variant = earlier->variant;
    buf_init(&stored, NULL, 0, LINES_BYTES_MAX);
    buf_init(&lines, NULL, 0, LINES_BYTES_MAX);
    buf_put(&stored, earlier->lines);
    buf_put(&stored, earlier->hidden);
    cached_head_update(buf_bytes(&stored), parts->lines, &lines);
    if (!stored.failed && !lines.failed) {
        updated.lines = buf_bytes(&lines);
        entry = cache_entry_create(&updated, circumstances);
    }
    buf_fini(&stored);
    buf_fini(&lines);
    return entry;
}

struct cache_entry *cache_entry_refresh(
    const struct cache_entry *earlier, struct cache_body *body,
    struct bytes lines, const struct cache_circumstances *circumstances)
{
    struct cache_entry_parts parts = {.status = earlier->facts.status,
                                      .phrase = earlier->phrase,
                                      .lines = lines,
                                      .body = body,
                                      .cost_ms = earlier->cost_ms};

    return cache_entry_update(earlier, &parts, circumstances);
}

static struct bytes without_weakness(struct bytes etag)
{
    (void)bytes_take(&etag, BYTES("W/"));
    return etag;
}

bool cache_entry_is_meant(const struct cache_entry *earlier, struct bytes lines)
{
    struct bytes etag = cached_head_find(lines, BYTES("ETag"));
    struct bytes modified = cached_head_find(lines, BYTES("Last-Modified"));

    if (etag.data)
        return bytes_eq(without_weakness(etag),
                        without_weakness(earlier->facts.etag));
    return !modified.data || earlier->facts.modified.len == 0 ||
           bytes_eq(modified, earlier->facts.modified);
}

enum cache_use cache_entry_use(const struct cache_entry *entry,
                               const struct cache_control *request,
                               int64_t now_s)
{
    enum cache_use use = cache_facts_use(&entry->facts, request, now_s);

    if (use == CACHE_USE_ASK ||
        !atomic_load_explicit(&entry->is_purged, memory_order_relaxed))
        return use;
    return entry->facts.control.stale_while_revalidate > 0 ? CACHE_USE_MEANWHILE
                                                           : CACHE_USE_ASK;
}

struct cache_entry *cache_entry_acquire(struct cache_entry *entry)
{
    atomic_fetch_add_explicit(&entry->refs, 1, memory_order_relaxed);
    return entry;
}

void cache_entry_release(struct cache_entry **entry_ref)
{
    struct cache_entry *entry = *entry_ref;

    *entry_ref = NULL;
    if (!entry ||
        atomic_fetch_sub_explicit(&entry->refs, 1, memory_order_acq_rel) > 1)
        return;
    cache_ranges_destroy(entry->ranges);
    cache_body_release(&entry->body);
    cache_file_release(&entry->file);
    free(entry);
}
