/*
 * cache_store_priv - what the files of the store share. Each file calls only
 * those above it in this list:
 *
 *   cache_index.c       which entries there are, and which of them go
 *   cache_flight.c      the flights, and the keys whose requests do not wait
 *   cache_purge.c       removes the entries that somebody has named
 *   cache_store_disk.c  what the disk reports
 *   cache_store.c       finding, keeping
 */
#ifndef CACHE_CACHE_STORE_PRIV_H
#define CACHE_CACHE_STORE_PRIV_H

#include "base/siphash.h"
#include "cache/cache_store.h"

enum {
    CACHE_SHARDS = 32,
    /* Numbers of elements that each shard has: */
    CACHE_BUCKETS = 2048,
    CACHE_MARKS = 64,
    CACHE_EPOCHS = 256,
    CACHE_INVALIDS = 256 /* the latest hashes that were made invalid */
};

/* What the store remembers of a key that has no entry. */
struct cache_mark {
    uint64_t hash;
    /* Seconds of the monotonic clock. Until until_s requests for the key do not
     * wait for each other, because its answer was for one client only. Until
     * long_until_s they do not wait either, because its answer was too long to
     * be kept. */
    int64_t until_s;
    int64_t long_until_s;
};

struct cache_shard {
    _Alignas(64) pthread_mutex_t mutex; /* guards all below, and the store's
                                           members of entries and flights */
    struct evict *evict;
    struct evict *awake; /* chooses bodies to leave memory; NULL: no disk */
    struct list flights;
    uint64_t version; /* number of changes to the shard's entries */
    uint32_t
        /* how often keys with such a hash were made invalid */
        epochs[CACHE_EPOCHS];
    uint32_t invalid_count;            /* how often any key was made invalid */
    uint64_t invalids[CACHE_INVALIDS]; /* hashes of the latest such keys */
    struct cache_mark marks[CACHE_MARKS];
    struct cache_entry *buckets[CACHE_BUCKETS];
};

enum { CACHE_PURGES_KEPT = 64 };

/* The latest purges. If a purge happens between the request for an entry and
 * the moment the entry is put, the entry may be outdated. So each entry is
 * compared on put with the purges since its request. */
struct cache_purges {
    pthread_mutex_t mutex; /* locked after a shard's, never before it */
    _Atomic uint32_t count;
    /* An element is NULL when memory was short for the note of that purge. The
     * purge then counts as one that names every entry. */
    struct cache_noted *noted[CACHE_PURGES_KEPT];
};

enum cache_purged { CACHE_PURGED_NOT, CACHE_PURGED_SOFTLY, CACHE_PURGED };

struct cache_store {
    struct cache_store_options options;
    struct cache_purges purges;
    struct siphash_key secret; /* for hashes, since clients choose the keys */
    struct cache_body_counts bodies;
    _Atomic uint64_t bytes; /* bytes of settled entries */
    _Atomic uint64_t entries;
    _Atomic uint64_t evictions;
    atomic_uint hand; /* number of the shard that makes room next */
    atomic_uint awake_hand;
    struct cache_disk *disk; /* NULL: all is in memory */
    _Atomic uint64_t heads;  /* with a disk: bytes of entries without bodies */
    _Atomic uint64_t awake;  /* with a disk: bytes of bodies in memory */
    struct cache_shard shards[CACHE_SHARDS];
};

static inline uint64_t cache_hash_of(const struct cache_store *store,
                                     struct bytes key)
{
    return siphash_of(&store->secret, key).words[0];
}

static inline struct cache_shard *cache_shard_of(struct cache_store *store,
                                                 uint64_t hash)
{
    return &store->shards[hash % CACHE_SHARDS];
}

static inline struct cache_entry **cache_bucket_of(struct cache_shard *shard,
                                                   uint64_t hash)
{
    return &shard->buckets[hash / CACHE_SHARDS % CACHE_BUCKETS];
}

static inline bool cache_entry_has_key(const struct cache_entry *entry,
                                       uint64_t hash, struct bytes key)
{
    return entry->hash == hash && bytes_eq(entry->key, key);
}

/* Returns the counter of how often the hash was made invalid. If it is raised
 * while an answer is fetched, the answer may have been out of date when it
 * came. The shard is locked. */
static inline uint32_t *cache_epoch_of(struct cache_shard *shard, uint64_t hash)
{
    return &shard->epochs[hash / CACHE_SHARDS % CACHE_EPOCHS];
}

/* Makes all entries with that hash invalid. The shard is locked. */
static inline void cache_make_invalid(struct cache_shard *shard, uint64_t hash)
{
    ++*cache_epoch_of(shard, hash);
    shard->invalids[shard->invalid_count++ % CACHE_INVALIDS] = hash;
}

/* Whether the hash was made invalid after the epoch `since`. The result is true
 * as well when nobody can tell any more, because more than CACHE_INVALIDS
 * hashes were made invalid after it. The shard is locked. */
static inline bool cache_was_made_invalid(struct cache_shard *shard,
                                          uint64_t hash,
                                          struct cache_epoch since)
{
    uint32_t count = shard->invalid_count - since.all_invalidated;

    if (*cache_epoch_of(shard, hash) == since.invalidated) /* the usual case */
        return false;
    if (count > CACHE_INVALIDS)
        return true;
    for (uint32_t i = 1; i <= count; i++)
        if (shard->invalids[(shard->invalid_count - i) % CACHE_INVALIDS] ==
            hash)
            return true;
    return false;
}

static inline struct cache_mark *cache_mark_of(struct cache_shard *shard,
                                               uint64_t hash)
{
    return &shard->marks[hash / CACHE_SHARDS % CACHE_MARKS];
}

/* Returns the mark of that hash. If the mark was another hash's, it is emptied
 * first. */
static inline struct cache_mark *cache_mark_anew(struct cache_shard *shard,
                                                 uint64_t hash)
{
    struct cache_mark *mark = cache_mark_of(shard, hash);

    if (mark->hash != hash)
        *mark = (struct cache_mark){.hash = hash};
    return mark;
}

/* --- cache_purge.c ------------------------------------------------------- */

void cache_purges_init(struct cache_purges *purges);
void cache_purges_fini(struct cache_purges *purges);

/* Looks at all purges that came after the first `since` ones. Returns
 * CACHE_PURGED if one of them removes the entry. The result is the same if the
 * note of a purge is lost, since that purge may have named the entry. Otherwise
 * returns CACHE_PURGED_SOFTLY if a soft purge names the entry, and
 * CACHE_PURGED_NOT if none does. */
enum cache_purged cache_purges_since(struct cache_purges *purges,
                                     uint32_t since,
                                     const struct cache_entry *entry);

/* --- cache_index.c: the caller has locked shard, if there is one --------- */

/* Puts the entry into its bucket, in the place of others of the same variant.
 * If the key then has too many variants, the oldest one goes, too. Returns the
 * entries that have gone, chained by `next`. The new entry gets the file of
 * `earlier`, unless that is NULL. */
struct cache_entry *cache_index_insert(struct cache_store *store,
                                       struct cache_shard *shard,
                                       struct cache_entry *entry,
                                       const struct cache_entry *earlier);

/* Puts an entry that was found on the disk into its bucket, behind more recent
 * entries. The first entry that fits a request is used, and that has to be the
 * most recent one (RFC 9111 4). */
struct cache_entry *cache_index_insert_found(struct cache_store *store,
                                             struct cache_shard *shard,
                                             struct cache_entry *entry);

/* Takes an entry out of its bucket. Returns the store's reference, or NULL if
 * the entry was in no bucket. */
struct cache_entry *cache_index_take(struct cache_store *store,
                                     struct cache_shard *shard,
                                     struct cache_entry *entry);

/* Notes that the entry's body, which is on the disk, is now in memory, too. */
void cache_index_note_awake(struct cache_store *store,
                            struct cache_shard *shard,
                            struct cache_entry *entry);

/* The functions below lock the shards that they look at. cache_index_let_go()
 * gives up one entry, and cache_index_release() a chain of entries, linked by
 * `next`. These entries have left their buckets before; now their files are
 * removed and their references released. cache_index_release() returns how many
 * entries there were. */
void cache_index_let_go(struct cache_store *store,
                        struct cache_entry **entry_ref);
size_t cache_index_release(struct cache_store *store,
                           struct cache_entry *entry);

/* Counts the entry's bytes as kept from now on, because its body is whole. */
void cache_index_settle(struct cache_store *store, struct cache_entry *entry);

void cache_index_make_room(struct cache_store *store);

/* Whether one more descriptor may be opened. */
bool cache_index_has_files(struct cache_store *store);

/* --- cache_store_disk.c -------------------------------------------------- */

/* What the store does when its disk reports; the context is the store. */
extern const struct cache_disk_events cache_store_disk_events;

#endif
