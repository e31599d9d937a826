#include "files/file_cache.h"

#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/pages.h"
#include "files/file_cache_priv.h"

enum {
    BUCKETS_MIN = 64,
    BUCKETS_MAX = 1 << 20,
    /* The miniature takes at most a sixteenth of the cache's memory, and 5 ms
     * in each second. */
    MINIATURE_PART = 16,
    MINIATURE_NS = 5000000
};

static struct evict *evict_of(struct file_cache *cache,
                              const struct file_entry *entry)
{
    return entry->fd >= 0 ? cache->opened : cache->resident;
}

static struct file_entry **bucket_of(struct file_cache *cache, uint64_t hash)
{
    return &cache->buckets[hash & cache->mask];
}

/* --- Keeping ------------------------------------------------------------ */

/* Gives back the cache's reference to a variant. The caller has taken the
 * variant out of evict. */
static void unlink_variant(struct file_entry *variant)
{
    variant->place->entry = NULL;
    variant->original = NULL;
    variant->is_cached = false;
    file_entry_release(variant);
}

/* Forgets the variants of a file's entry that leaves the cache: they are found
 * only through the entry. */
static void forget_variants(struct file_cache *cache, struct file_entry *entry)
{
    struct file_variants *variants = entry->variants;

    for (int i = CODING_IDENTITY + 1; variants && i < CODING_COUNT; i++)
        if (variants->codings[i].entry)
            file_cache_forget(cache, variants->codings[i].entry);
    for (size_t i = 0; variants && i < variants->delta_count; i++)
        if (variants->deltas[i].variant.entry)
            file_cache_forget(cache, variants->deltas[i].variant.entry);
}

/* Takes an entry out of the index and gives back the cache's reference. The
 * caller has taken the entry out of evict. */
static void unlink_entry(struct file_cache *cache, struct file_entry *entry)
{
    struct file_entry **link = bucket_of(cache, entry->hash);

    if (entry->original) {
        unlink_variant(entry);
        return;
    }
    forget_variants(cache, entry);
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    entry->is_cached = false;
    file_entry_release(entry);
}

void file_cache_forget(struct file_cache *cache, struct file_entry *entry)
{
    if (!entry->is_cached)
        return;
    evict_remove(evict_of(cache, entry), &entry->node);
    unlink_entry(cache, entry);
}

static void forget_all(struct file_cache *cache, bool only_opened)
{
    for (size_t i = 0; i <= cache->mask; i++) {
        struct file_entry *entry = cache->buckets[i];

        while (entry) {
            struct file_entry *next = entry->next;

            if (!only_opened || entry->fd >= 0)
                file_cache_forget(cache, entry);
            entry = next;
        }
    }
}

static uint64_t footprint(const struct file_entry *entry)
{
    uint64_t bytes = sizeof(*entry) + entry->path_len;

    if (entry->kind == FILE_REGULAR)
        bytes += entry->head_len + entry->fields.len;
    if (file_entry_is_resident(entry) || entry->map)
        bytes += entry->stamp.bytes;
    return bytes;
}

static void make_room(struct file_cache *cache, struct evict *evict)
{
    struct evict_node *victim;

    while ((victim = evict_take_victim(evict))) {
        unlink_entry(cache, OWNER_OF(victim, struct file_entry, node));
        cache->evictions++;
    }
}

/* Notes a request for an entry that keeps no descriptor. */
static void note_asked(struct file_cache *cache, const struct file_entry *entry)
{
    cache->asked.requests++;
    cache->asked.bytes += entry->node.bytes;
    if (entry->is_sampled)
        miniature_ask(cache->miniature, entry->hash, entry->node.bytes);
}

/* Notes the first request for an entry, which is not cached yet. */
static void note_new(struct file_cache *cache, struct file_entry *entry)
{
    if (entry->fd >= 0 || !cache->miniature)
        return;
    entry->is_sampled = miniature_samples(cache->miniature, entry->hash,
                                          entry->node.bytes);
    note_asked(cache, entry);
}

static void keep(struct file_cache *cache, struct file_entry *entry,
                 uint64_t hash)
{
    struct evict *evict = evict_of(cache, entry);
    struct file_entry **bucket = bucket_of(cache, hash);

    entry->hash = hash;
    entry->node.bytes = footprint(entry);
    note_new(cache, entry);
    if (!evict || !evict_insert(evict, &entry->node))
        return;
    entry->is_cached = true;
    file_entry_hold(entry);
    entry->next = *bucket;
    *bucket = entry;
    make_room(cache, evict);
}

bool file_cache_keep_variant(struct file_cache *cache,
                             struct file_entry *original,
                             struct file_variant *place,
                             struct file_entry *variant)
{
    variant->node.bytes = footprint(variant);
    variant->hash = XXH3_64bits_withSeed(variant->etag.data, variant->etag.len,
                                         original->hash);
    note_new(cache, variant);
    if (!evict_insert(cache->resident, &variant->node))
        return false;
    variant->is_cached = true;
    file_entry_hold(variant);
    variant->original = original;
    variant->place = place;
    place->entry = variant;
    make_room(cache, cache->resident);
    return variant->is_cached;
}

void file_cache_hit(struct file_cache *cache, struct file_entry *entry)
{
    evict_hit(evict_of(cache, entry), &entry->node);
    if (entry->fd < 0)
        note_asked(cache, entry);
    file_entry_hold(entry);
}

/* --- Finding ------------------------------------------------------------ */

static struct file_entry *find(struct file_cache *cache, uint64_t hash,
                               const struct file_space *space,
                               struct bytes path, enum coding coding)
{
    for (struct file_entry *entry = *bucket_of(cache, hash); entry;
         entry = entry->next)
        if (entry->hash == hash && entry->space == space &&
            entry->coding == coding &&
            bytes_eq((struct bytes){entry->path, entry->path_len}, path))
            return entry;
    return NULL;
}

static bool is_usable(struct file_cache *cache, struct file_entry *entry)
{
    uint64_t now_ms = cache->now->mono_ms;

    if (now_ms - entry->checked_ms < FILE_CACHE_CHECK_MS)
        return true;
    entry->checked_ms = now_ms;
    return file_entry_is_fresh(entry);
}

/* Forgets an entry whose file has changed. A cache of any other size would lose
 * the entry, too, so the miniature forgets it. */
static void forget_changed(struct file_cache *cache, struct file_entry *entry)
{
    if (entry->is_sampled)
        miniature_forget(cache->miniature, entry->hash);
    file_cache_forget(cache, entry);
}

bool file_cache_siblings_changed(struct file_cache *cache,
                                 struct file_entry *entry)
{
    uint64_t now_ms = cache->now->mono_ms;
    uint64_t looked_ms = now_ms;
    uint64_t version;

    if (now_ms - entry->siblings_checked_ms < FILE_CACHE_CHECK_MS)
        return false;
    version = file_folders_look(&cache->folders, entry, cache->seed, cache->now,
                                &looked_ms);
    /* The folder may have been looked at a moment ago, before the newest
     * siblings came. These change its version at the next look. Then all
     * siblings are looked for once more. */
    entry->siblings_checked_ms = looked_ms;
    if (version != 0 && version == entry->folder_version)
        return false;
    entry->folder_version = version;
    if (file_entry_find_siblings(entry) == entry->siblings)
        return false;
    forget_changed(cache, entry);
    return true;
}

static struct file_entry *load(struct file_cache *cache,
                               const struct file_space *space,
                               struct bytes path, enum coding coding)
{
    bool exhausted;
    struct file_entry *entry = file_entry_load(&cache->options, space, path,
                                               coding, &exhausted);

    if (!exhausted)
        return entry;
    /* Descriptors have run out. An answer is worth more than the descriptors
     * that the cache keeps open, so all of these are closed. */
    file_entry_release(entry);
    forget_all(cache, true);
    return file_entry_load(&cache->options, space, path, coding, &exhausted);
}

struct file_entry *file_cache_acquire(struct file_cache *cache,
                                      const struct file_space *space,
                                      struct bytes path, enum coding coding)
{
    uint64_t hash = XXH3_64bits_withSeed(path.data, path.len,
                                         cache->seed + (uintptr_t)space +
                                             coding);
    struct file_entry *entry = find(cache, hash, space, path, coding);

    if (entry) {
        if (is_usable(cache, entry)) {
            file_cache_hit(cache, entry);
            cache->hits++;
            return entry;
        }
        forget_changed(cache, entry);
    }
    cache->misses++;
    entry = load(cache, space, path, coding);
    if (entry && entry->kind != FILE_BROKEN)
        keep(cache, entry, hash);
    return entry;
}

struct file_cache_counts file_cache_count(const struct file_cache *cache)
{
    struct file_cache_counts counts = {.hits = cache->hits,
                                       .misses = cache->misses,
                                       .evictions = cache->evictions,
                                       .coded = cache->coded,
                                       .saved_bytes = cache->saved_bytes};
    const struct evict *const evicts[] = {cache->resident, cache->opened};

    for (size_t i = 0; i < sizeof(evicts) / sizeof(evicts[0]); i++) {
        if (evicts[i]) {
            counts.bytes += evict_bytes(evicts[i]);
            counts.entries += evict_entries(evicts[i]);
        }
    }
    return counts;
}

void file_cache_tell_what_if(struct file_cache *cache,
                             struct miniature_told *told_out)
{
    *told_out = (struct miniature_told){0};
    if (!cache->miniature)
        return;
    miniature_tick(cache->miniature);
    miniature_tell(cache->miniature, told_out);
}

/* --- Coming and going --------------------------------------------------- */

/* Makes the miniature. The cache does without it when there is no memory. */
static void make_miniature(struct file_cache *cache)
{
    uint64_t bytes_max = cache->options.bytes_max;
    uint64_t memory_max = bytes_max / MINIATURE_PART;
    const struct miniature_options options = {
        .bytes_max = bytes_max,
        .entries_max = cache->options.entries_max,
        .memory_max = memory_max < MINIATURE_MEMORY ? (size_t)memory_max
                                                    : MINIATURE_MEMORY,
        .budget_ns = MINIATURE_NS,
        .asked = &cache->asked};

    cache->miniature = miniature_create(&options);
}

static size_t bucket_count(size_t entries_max)
{
    size_t count = BUCKETS_MIN;

    while (count < entries_max && count < BUCKETS_MAX)
        count *= 2;
    return count;
}

static size_t bytes_of_cache(size_t buckets)
{
    return sizeof(struct file_cache) + buckets * sizeof(struct file_entry *);
}

struct file_cache *file_cache_create(const struct file_cache_options *options)
{
    size_t buckets = bucket_count(options->entries_max);
    size_t opened_max = options->entries_max < options->descriptors_max
                            ? options->entries_max
                            : options->descriptors_max;
    struct file_cache *cache = pages_open(bytes_of_cache(buckets));

    if (!cache)
        return NULL;
    cache->options = *options;
    cache->now = options->defaults.now;
    cache->mask = buckets - 1;
    if (getrandom(&cache->seed, sizeof(cache->seed), GRND_NONBLOCK) == -1)
        cache->seed = (uint64_t)options->defaults.now->wall_ns;
    if (options->bytes_max == 0 || options->entries_max == 0)
        return cache;
    cache->resident = evict_create(options->policy, options->bytes_max,
                                   options->entries_max);
    if (opened_max > 0)
        cache->opened = evict_create(options->policy, options->bytes_max,
                                     opened_max);
    make_miniature(cache);
    if (cache->resident && (cache->opened || opened_max == 0))
        return cache;
    file_cache_destroy(cache);
    return NULL;
}

struct bytes file_cache_type(const struct file_cache *cache,
                             const struct file_space *space, struct bytes path)
{
    return file_space_type(space, cache->options.mime, path);
}

void file_cache_destroy(struct file_cache *cache)
{
    if (!cache)
        return;
    forget_all(cache, false);
    evict_destroy(cache->resident);
    evict_destroy(cache->opened);
    miniature_destroy(cache->miniature);
    pages_close(cache, bytes_of_cache(cache->mask + 1));
}
