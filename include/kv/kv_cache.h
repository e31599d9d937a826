/*
 * kv_cache - values of a store on disk, kept in memory for all its readers.
 *
 *   reader:  acquire --missing--> read the store --> fill
 *   writer:  begin_write of each key --> commit --> end_writes --> answers
 *
 * A key's hash says in which group it lies; each group has a lock, an index and
 * a replacement policy of its own. A hit takes one lock and allocates nothing.
 *
 * A reader never gets what a finished write replaced, nor an older value after
 * anybody got a newer one. The writer takes the key out before its commit;
 * whoever read the store before the write has ended cannot put in what it read.
 * A version, shared by all keys with the same bits of hash, tells that:
 *
 *   even --begin_write--> odd --end_writes--> even, another
 *
 * and fill takes a value only when the version is the even one that acquire
 * saw. Keys that share a version cost each other a fill, never a hit.
 *
 * Missing keys are not remembered: strangers could fill the cache with names,
 * and finding nothing in LMDB costs no copy. The reader itself checks whether a
 * value has expired.
 *
 * Invariant: while no write of a key is under way, its value here is the
 *            store's.
 * Thread:    any may acquire, fill and count; only one thread writes.
 * Locks:     one per group; nobody holds two.
 * Owns:      a reference of each value inside.
 */
#ifndef KV_KV_CACHE_H
#define KV_KV_CACHE_H

#include "base/evict.h"
#include "base/siphash.h"
#include "kv/kv_store.h"

enum {
    KV_CACHE_GROUPS_MAX = 1024,
    /* The largest value may take this fraction (1/8) of a group's bytes. */
    KV_CACHE_VALUE_PART = 8
};

struct kv_cache_options {
    enum evict_policy policy;
    uint64_t bytes_max; /* keys, values, metadata; at least 1. The index takes
                           about a 30th more */
    unsigned groups;    /* 1 to KV_CACHE_GROUPS_MAX */
};

struct kv_cache_counts {
    uint64_t hits; /* this and the next three: since the start */
    uint64_t misses;
    uint64_t fills;
    uint64_t evictions; /* pushed out by other values, not by writes */
    uint64_t bytes;     /* present, as the next */
    uint64_t entries;
};

/* What a reader remembers from acquire to fill. */
struct kv_cache_ticket {
    struct siphash hash;
    uint32_t version;
};

struct kv_cache; /* opaque */

/* Returns 0 or -errno. */
MUST_USE int kv_cache_create(struct kv_cache **cache_out,
                             const struct kv_cache_options *options);
void kv_cache_destroy(struct kv_cache *cache); /* NULL is accepted */

/* Returns a counted reference, or NULL: the value is not inside, and the caller
 * reads the store after this call. Keys have at most KV_KEY_BYTES_MAX bytes. */
MUST_USE struct kv_value *kv_cache_acquire(struct kv_cache *cache,
                                           struct bytes key,
                                           struct kv_cache_ticket *ticket);

/* Offers the value that was read from the store after kv_cache_acquire(), its
 * data included; the cache may decline it. The caller keeps its reference. */
void kv_cache_fill(struct kv_cache *cache, struct bytes key,
                   const struct kv_cache_ticket *ticket,
                   struct kv_value *value);

/* Takes the key out before a transaction that changes it is committed. A second
 * call does no harm, nor does a transaction that changes nothing. */
void kv_cache_begin_write(struct kv_cache *cache, struct bytes key);

/* Ends all writes that were begun: after they were committed or given up, and
 * before their clients are answered. */
void kv_cache_end_writes(struct kv_cache *cache);

/* Empties the cache and keeps it empty until kv_cache_end_writes(), since
 * another process may write. The writer calls this between transactions. */
void kv_cache_suspend(struct kv_cache *cache);

struct kv_cache_counts kv_cache_count(struct kv_cache *cache);

#endif
