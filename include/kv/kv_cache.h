/*
 * kv_cache - values of a store on disk, kept in memory for all its readers.
 *
 *   reader:  acquire --missing--> read the store --> fill
 *   writer:  begin_write of each key --> commit --> end_writes --> answers
 *
 * It lies in groups by the keys' hash, each with a lock, an index and a
 * replacement policy of its own. A hit is one lock, and nothing is allocated.
 *
 * A reader never gets what a finished write replaced, nor an older value after
 * anybody got a newer one. The writer takes the key out before its commit, from
 * which on readers of the store may see either; and what one of them read then,
 * or before, it cannot put in. That is told by a version, which stands for all
 * keys of some bits of hash:
 *
 *   even --begin_write--> odd --end_writes--> even, another
 *
 * and fill takes a value only when the version is the even one that acquire
 * saw. Keys that share a version cost each other a fill, never a hit.
 *
 * That a key is missing is not kept: strangers could fill it with names, and
 * to find nothing in LMDB costs no copy. What has expired is the reader's to
 * see.
 *
 * Invariant: outside of its writes a key's value here is the store's.
 * Thread:    acquire, fill, count any; the writes one thread's.
 * Locks:     a group's, alone.
 * Owns:      a reference of each value inside.
 */
#ifndef KV_KV_CACHE_H
#define KV_KV_CACHE_H

#include "base/evict.h"
#include "base/siphash.h"
#include "kv/kv_store.h"

enum {
    KV_CACHE_GROUPS_MAX = 1024,
    /* The part of a group that the largest value may have. */
    KV_CACHE_VALUE_PART = 8
};

struct kv_cache_options {
    enum evict_policy policy;
    uint64_t bytes_max; /* keys, values and what is known of them; at least 1.
                           An index comes to that, about a 30th */
    unsigned groups;    /* 1 to KV_CACHE_GROUPS_MAX */
};

struct kv_cache_counts {
    uint64_t hits; /* since the start, as the next three */
    uint64_t misses;
    uint64_t fills;
    uint64_t evictions; /* by others; not by writes */
    uint64_t bytes;     /* now, as the next */
    uint64_t entries;
};

/* What a reader remembers from acquire to fill. */
struct kv_cache_ticket {
    struct siphash hash;
    uint32_t version;
};

struct kv_cache; /* opaque */

/* 0 or -errno. */
MUST_USE int kv_cache_create(struct kv_cache **cache_out,
                             const struct kv_cache_options *options);
void kv_cache_destroy(struct kv_cache *cache); /* NULL is accepted */

/* A reference; NULL: not inside, and the store is to be read, after this call.
 * Key has at most KV_KEY_BYTES_MAX bytes, as everywhere. */
MUST_USE struct kv_value *kv_cache_acquire(struct kv_cache *cache,
                                           struct bytes key,
                                           struct kv_cache_ticket *ticket);

/* Offers what was read then, with its data; it may be declined. The caller
 * keeps its reference. */
void kv_cache_fill(struct kv_cache *cache, struct bytes key,
                   const struct kv_cache_ticket *ticket,
                   struct kv_value *value);

/* Takes the key out before a transaction that changes it is committed; calling
 * this twice does no harm, nor does a transaction that comes to nothing.
 */
void kv_cache_begin_write(struct kv_cache *cache, struct bytes key);

/* Ends all writes that were begun, after they were committed or given up, and
 * before anybody is told. */
void kv_cache_end_writes(struct kv_cache *cache);

/* Until kv_cache_end_writes() nothing is inside, and nothing gets in: another
 * process may write. The writer's, between transactions. */
void kv_cache_suspend(struct kv_cache *cache);

struct kv_cache_counts kv_cache_count(struct kv_cache *cache);

#endif
