/*
 * kv_cache - keeps values of a store on disk in memory, for all readers.
 *
 *   reader:  acquire --missing--> read the store --> fill
 *   writer:  begin_write of each key --> commit --> end_writes --> answers
 *
 * The hash of a key selects a group; each group has its own lock, index and
 * replacement policy. A hit takes one lock and allocates nothing.
 *
 * A reader never gets a value that a finished write has replaced, and never an
 * older value after any reader got a newer one. The writer removes the key from
 * the cache before its commit. A reader may still read the old value from the
 * store until the write ends. A version keeps this reader from filling the
 * cache with the old value; keys share a version if some bits of their hashes
 * are the same:
 *
 *   even --begin_write--> odd --end_writes--> even, another
 *
 * A fill is accepted only if the version is even and the same as at acquire. A
 * write of one key may prevent fills of the keys that share its version, but
 * never a hit.
 *
 * The cache does not remember missing keys: strangers could fill the cache with
 * names, and a lookup of a missing key in LMDB copies nothing. The reader
 * itself checks whether a value has expired.
 *
 * Invariant: while no write of a key is under way, the key's value in the cache
 *            is the store's.
 * Thread:    any thread may acquire, fill and count; only one thread writes.
 * Locks:     one per group; no thread holds two.
 * Owns:      a reference to each value in the cache.
 */
#ifndef KV_KV_CACHE_H
#define KV_KV_CACHE_H

#include "base/evict.h"
#include "base/siphash.h"
#include "kv/kv_store.h"

enum {
    KV_CACHE_GROUPS_MAX = 1024,
    /* A value may take at most an eighth of a group's bytes. */
    KV_CACHE_VALUE_PART = 8
};

struct kv_cache_options {
    enum evict_policy policy;
    /* Limit of the bytes of keys, values and metadata; at least 1. The index
     * takes about a 30th more. */
    uint64_t bytes_max;
    unsigned groups; /* 1 to KV_CACHE_GROUPS_MAX */
};

struct kv_cache_counts {
    uint64_t hits; /* `hits` to `evictions` count since the start */
    uint64_t misses;
    uint64_t fills;
    uint64_t evictions; /* values replaced by other keys' values */
    uint64_t bytes;     /* `bytes` and `entries` are what the cache has now */
    uint64_t entries;
};

/* kv_cache_acquire() writes a ticket. By the ticket, kv_cache_fill() finds out
 * whether the key may have changed since then. */
struct kv_cache_ticket {
    struct siphash hash;
    uint32_t version;
};

struct kv_cache; /* opaque */

/* Returns 0 or -errno. */
MUST_USE int kv_cache_create(struct kv_cache **cache_out,
                             const struct kv_cache_options *options);
void kv_cache_destroy(struct kv_cache *cache); /* NULL is accepted */

/* Returns a counted reference to the key's value, or NULL if the cache does not
 * have the value; the caller then reads the store after this call. Keys have at
 * most KV_KEY_BYTES_MAX bytes. */
MUST_USE struct kv_value *kv_cache_acquire(struct kv_cache *cache,
                                           struct bytes key,
                                           struct kv_cache_ticket *ticket);

/* Offers a value that the caller has read from the store, data included, after
 * kv_cache_acquire(). The cache may decline the value. The caller keeps its
 * reference. */
void kv_cache_fill(struct kv_cache *cache, struct bytes key,
                   const struct kv_cache_ticket *ticket,
                   struct kv_value *value);

/* Removes the key from the cache. To be called before the commit of a
 * transaction that changes the key. Calling twice, or without a change, does no
 * harm. */
void kv_cache_begin_write(struct kv_cache *cache, struct bytes key);

/* Ends all writes that were begun. To be called after the writes were committed
 * or aborted, and before their clients are answered. */
void kv_cache_end_writes(struct kv_cache *cache);

/* Empties the cache and keeps it empty until kv_cache_end_writes(), since
 * another process may write. The writer calls this between transactions. */
void kv_cache_suspend(struct kv_cache *cache);

struct kv_cache_counts kv_cache_count(struct kv_cache *cache);

#endif
