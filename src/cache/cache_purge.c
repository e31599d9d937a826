#include "cache/cache_key.h"
#include "cache/cache_store_priv.h"
#include "cache/cached_head.h"

#include <stdlib.h>

static bool is_meant(const struct cache_purge *purge,
                     const struct cache_entry *entry)
{
    struct bytes address = cache_key_address(purge->place, entry->key);

    if (!address.data || address.len < purge->address.len ||
        (purge->address.len > 0 &&
         memcmp(address.data, purge->address.data, purge->address.len) != 0) ||
        (!purge->is_prefix && address.len > purge->address.len))
        return false;
    return purge->tags.len == 0 ||
           cached_head_has_tag(entry->lines, purge->tags);
}

/* --- Purges that are noted for later entries ------------------------------ */

struct cache_noted {
    struct cache_purge purge; /* its texts lie behind the struct */
    char text[];
};

void cache_purges_init(struct cache_purges *purges)
{
    pthread_mutex_init(&purges->mutex, NULL);
    atomic_init(&purges->count, 0);
}

void cache_purges_fini(struct cache_purges *purges)
{
    for (size_t i = 0; i < CACHE_PURGES_KEPT; i++)
        free(purges->noted[i]);
    pthread_mutex_destroy(&purges->mutex);
}

/* Copies a text to *at. A text whose data is NULL has a meaning of its own, and
 * stays as it is. */
static void move(struct bytes *text, char **at)
{
    if (!text->data)
        return;
    if (text->len > 0)
        memcpy(*at, text->data, text->len);
    text->data = *at;
    *at += text->len;
}

/* Notes a purge. The note is made before the purge looks for entries. So an
 * entry that is put too late for the purge to find it meets the note. */
static void note(struct cache_purges *purges, const struct cache_purge *purge)
{
    struct cache_noted *noted = malloc(sizeof(*noted) + purge->place.len +
                                       purge->address.len + purge->tags.len);
    struct cache_noted **slot;

    if (noted) {
        char *at = noted->text;

        noted->purge = *purge;
        move(&noted->purge.place, &at);
        move(&noted->purge.address, &at);
        move(&noted->purge.tags, &at);
    }
    pthread_mutex_lock(&purges->mutex);
    slot = &purges->noted[atomic_load(&purges->count) % CACHE_PURGES_KEPT];
    free(*slot);
    *slot = noted;
    atomic_fetch_add(&purges->count, 1);
    pthread_mutex_unlock(&purges->mutex);
}

enum cache_purged cache_purges_since(struct cache_purges *purges,
                                     uint32_t since,
                                     const struct cache_entry *entry)
{
    enum cache_purged purged = CACHE_PURGED_NOT;
    uint32_t count;

    if (atomic_load(&purges->count) == since) /* the usual case */
        return CACHE_PURGED_NOT;
    pthread_mutex_lock(&purges->mutex);
    count = atomic_load(&purges->count);
    if (count - since > CACHE_PURGES_KEPT)
        purged = CACHE_PURGED;
    for (; since != count && purged != CACHE_PURGED; since++) {
        const struct cache_noted *noted =
            purges->noted[since % CACHE_PURGES_KEPT];

        if (!noted)
            purged = CACHE_PURGED;
        else if (is_meant(&noted->purge, entry))
            purged = noted->purge.is_soft ? CACHE_PURGED_SOFTLY : CACHE_PURGED;
    }
    pthread_mutex_unlock(&purges->mutex);
    return purged;
}

/* --- Purging entries ------------------------------------------------------ */

/* Takes the entries that a purge names out of a bucket, and chains them before
 * `others`. The shard is locked. */
static struct cache_entry *purge_bucket(struct cache_store *store,
                                        struct cache_shard *shard,
                                        struct cache_entry *at,
                                        const struct cache_purge *purge,
                                        struct cache_entry *others,
                                        size_t *count)
{
    while (at) {
        struct cache_entry *next = at->next;

        if (is_meant(purge, at)) {
            ++*count;
            atomic_store_explicit(&at->is_purged, true, memory_order_relaxed);
            if (!purge->is_soft) {
                struct cache_entry *taken = cache_index_take(store, shard, at);

                cache_make_invalid(shard, at->hash);
                taken->next = others;
                others = taken;
            } else if (at->file) {
                cache_disk_change(store->disk, at, at->file);
            }
        }
        at = next;
    }
    return others;
}

size_t cache_store_purge(struct cache_store *store,
                         const struct cache_purge *purge)
{
    size_t count = 0;

    note(&store->purges, purge);
    for (size_t i = 0; i < CACHE_SHARDS; i++) {
        struct cache_shard *shard = &store->shards[i];
        struct cache_entry *gone = NULL;

        pthread_mutex_lock(&shard->mutex);
        for (size_t k = 0; k < CACHE_BUCKETS; k++)
            gone = purge_bucket(store, shard, shard->buckets[k], purge, gone,
                                &count);
        shard->version++;
        pthread_mutex_unlock(&shard->mutex);
        cache_index_release(store, gone);
    }
    return count;
}

/* --- Listing ------------------------------------------------------------- */

enum { LISTED_MAX = 256 /* most entries of a bucket that are listed */ };

struct listed {
    struct cache_entry *entry; /* a reference */
    uint64_t bytes;
};

/* Takes references to a bucket's entries that `meant` names, and returns how
 * many there are. */
static size_t gather(struct cache_shard *shard, size_t bucket,
                     const struct cache_purge *meant,
                     struct listed listed[LISTED_MAX])
{
    size_t count = 0;

    pthread_mutex_lock(&shard->mutex);
    for (struct cache_entry *at = shard->buckets[bucket];
         at && count < LISTED_MAX; at = at->next)
        if (is_meant(meant, at))
            listed[count++] = (struct listed){
                .entry = cache_entry_acquire(at),
                .bytes = at->is_settled ? at->node.bytes : 0};
    pthread_mutex_unlock(&shard->mutex);
    return count;
}

void cache_store_list(struct cache_store *store,
                      const struct cache_purge *meant,
                      void (*visit)(void *context,
                                    const struct cache_entry *entry,
                                    uint64_t bytes),
                      void *context)
{
    struct listed listed[LISTED_MAX];

    for (size_t i = 0; i < CACHE_SHARDS; i++)
        for (size_t k = 0; k < CACHE_BUCKETS; k++) {
            size_t count = gather(&store->shards[i], k, meant, listed);

            for (size_t n = 0; n < count; n++) {
                visit(context, listed[n].entry, listed[n].bytes);
                cache_entry_release(&listed[n].entry);
            }
        }
}
