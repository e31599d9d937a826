#include "process/cache_command.h"

#include "base/now.h"
#include "cache/cache_key.h"

enum {
    ADDRESS_BYTES_MAX = CACHE_KEY_BYTES_MAX,
    /* The most bytes that a list has; less than CONTROL_ANSWER_MAX. */
    LISTED_BYTES_MAX = 900000
};

/* --- Words --------------------------------------------------------------- */

/* Puts the part "host/path?query" of a URL, in the form of the cache's keys. */
static void put_address(struct bytes url, bool is_prefix, struct buf *out)
{
    bool is_host = true;

    if (!bytes_take_ieq(&url, BYTES("http://")))
        (void)bytes_take_ieq(&url, BYTES("https://"));
    for (size_t i = 0; i < url.len; i++) {
        char byte = url.data[i];

        is_host = is_host && byte != '/';
        if (is_host)
            byte = byte_lower(byte);
        buf_put(out, (struct bytes){&byte, 1});
    }
    if (is_host && url.len > 0 && !is_prefix)
        buf_put_literal(out, "/");
}

/* Reads an address, which may end with '*', into *meant. The address's text is
 * put into `storage`. */
static void read_address(struct bytes word, struct buf *storage,
                         struct cache_purge *meant)
{
    meant->is_prefix = word.len > 0 && word.data[word.len - 1] == '*';
    word.len -= meant->is_prefix;
    put_address(word, meant->is_prefix, storage);
    meant->address = buf_bytes(storage);
}

/* Reads from `words` what to purge. Returns NULL, or what is wrong with
 * `words`. */
static const char *read_meant(struct bytes words, struct buf *storage,
                              struct cache_purge *meant)
{
    *meant = (struct cache_purge){.is_prefix = true};
    for (;;) {
        struct bytes word = bytes_take_word(&words);

        if (word.len == 0)
            return storage->failed ? "the address is too long" : NULL;
        if (bytes_eq(word, BYTES("soft")))
            meant->is_soft = true;
        else if (bytes_take(&word, BYTES("tags=")))
            meant->tags = word;
        else if (storage->len > 0)
            return "there is more than one address";
        else
            read_address(word, storage, meant);
    }
}

/* --- Purging ------------------------------------------------------------- */

static bool purge(struct cache_store *store, struct bytes words,
                  struct buf *answer)
{
    struct cache_purge meant;
    const char *fault;
    bool is_said;
    struct buf storage;

    buf_init(&storage, NULL, 0, ADDRESS_BYTES_MAX);
    fault = read_meant(words, &storage, &meant);
    /* An operator who wants to purge the whole cache must write "*". */
    is_said = meant.tags.len > 0 || storage.len > 0 ||
              memchr(words.data, '*', words.len);
    if (!fault && !is_said)
        fault = "name an address, '*' for all, or tags";
    if (fault)
        buf_put(answer, bytes_of(fault));
    else
        buf_printf(answer, "%zu purged\n", cache_store_purge(store, &meant));
    buf_fini(&storage);
    return !fault;
}

/* --- Listing ------------------------------------------------------------- */

struct listed_lines {
    struct buf *out;
    int64_t now_s;
    uint64_t left_out;
};

/* Returns the part "scheme://host/path" of a cache key. */
static struct bytes url_of(struct bytes key)
{
    const char *end = key.data + key.len;
    const char *begin = memchr(key.data, '\n', key.len);
    const char *line;

    if (!begin)
        return key;
    begin++;
    line = memchr(begin, '\n', (size_t)(end - begin));
    return bytes_between(begin, line ? line : end);
}

static void list_entry(void *context, const struct cache_entry *entry,
                       uint64_t bytes)
{
    struct listed_lines *listing = context;
    struct bytes url = url_of(entry->key);

    if (listing->out->len > LISTED_BYTES_MAX) {
        listing->left_out++;
        return;
    }
    buf_printf(listing->out, "%10lld %3u %12llu ",
               (long long)cache_facts_ttl(&entry->facts, listing->now_s),
               entry->facts.status, (unsigned long long)bytes);
    buf_put_log(listing->out, url); /* escapes bytes that terminals obey */
    if (entry->ranges)
        buf_printf(listing->out, " (%u parts of %llu bytes)",
                   entry->ranges->count,
                   (unsigned long long)entry->ranges->length);
    if (entry->names.len > 0) {
        buf_put_literal(listing->out, " [");
        buf_put_log(listing->out, entry->names);
        buf_put_literal(listing->out, "]");
    }
    if (atomic_load_explicit(&entry->is_purged, memory_order_relaxed))
        buf_put_literal(listing->out, " purged");
    buf_put_literal(listing->out, "\n");
}

static bool list(struct cache_store *store, struct bytes words,
                 struct buf *answer)
{
    struct listed_lines listing = {.out = answer};
    struct cache_purge meant;
    const char *fault;
    struct buf storage;
    struct now now;

    now_refresh(&now);
    listing.now_s = now.wall_s;
    buf_init(&storage, NULL, 0, ADDRESS_BYTES_MAX);
    fault = read_meant(words, &storage, &meant);
    if (fault) {
        buf_put(answer, bytes_of(fault));
    } else {
        buf_put_literal(answer, "       ttl  st        bytes address\n");
        cache_store_list(store, &meant, list_entry, &listing);
        if (listing.left_out > 0)
            buf_printf(answer,
                       "%llu more: name what their addresses begin with\n",
                       (unsigned long long)listing.left_out);
    }
    buf_fini(&storage);
    return !fault;
}

/* --- Numbers ------------------------------------------------------------- */

static bool count(struct cache_store *store, struct buf *answer)
{
    const struct cache_store_options *options = cache_store_options_of(store);
    struct cache_store_counts counts = cache_store_count(store);

    buf_printf(answer, "in: %s\n",
               options->disk.folder ? options->disk.folder : "memory");
    buf_printf(answer, "entries: %llu\n", (unsigned long long)counts.entries);
    buf_printf(answer, "bytes: %llu of %llu\n",
               (unsigned long long)counts.bytes,
               (unsigned long long)options->bytes_max);
    buf_printf(answer, "descriptors: %llu of %zu\n",
               (unsigned long long)counts.files, options->files_max);
    buf_printf(answer, "evicted: %llu\n", (unsigned long long)counts.evictions);
    if (options->disk.folder)
        buf_printf(answer,
                   "files written: %llu\nnot written: %llu\ndamaged: %llu\n",
                   (unsigned long long)counts.disk.written,
                   (unsigned long long)counts.disk.refused,
                   (unsigned long long)counts.disk.damaged);
    return true;
}

bool cache_command_run(struct cache_store *store, struct bytes words,
                       struct buf *answer)
{
    struct bytes name = bytes_take_word(&words);

    if (!store)
        buf_put_literal(answer, "this server has no --proxy-cache");
    else if (bytes_eq(name, BYTES("purge")))
        return purge(store, words, answer);
    else if (bytes_eq(name, BYTES("ls")))
        return list(store, words, answer);
    else if (bytes_eq(name, BYTES("stat")))
        return count(store, answer);
    else
        buf_put_literal(answer, "there is no such command");
    return false;
}
