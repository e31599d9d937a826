/*
 * stats_store - the statistics of a key-value store: how many questions each
 * worker has asked, and the store's own numbers.
 *
 * stats_rows.h says how the numbers are shown. Numbers that an engine does not
 * have (a store on another machine has no map) are not shown.
 *
 * Thread: a worker writes its counters. The main thread writes the store's
 *         numbers, once a second and before a report.
 * Owns:   nothing.
 */
#ifndef OBSERVE_STATS_STORE_H
#define OBSERVE_STATS_STORE_H

#include "base/buf.h"
#include "observe/counter.h"

enum { STATS_STORES_MAX = 8, STATS_STORE_PREFIX_MAX = 204 };

enum stats_store_number {
    /* Counted by workers. A batch that succeeded counts as a batch, and each of
     * its operations counts, too. A batch that failed counts only once, under
     * the reason of its failure. */
    STATS_STORE_FOUND,
    STATS_STORE_MISSING,
    STATS_STORE_LISTS,
    STATS_STORE_CREATED,
    STATS_STORE_REPLACED,
    STATS_STORE_DELETED,
    STATS_STORE_NOT_DELETED, /* deletions of keys that were missing */
    STATS_STORE_BATCHES,
    STATS_STORE_PRECONDITIONS, /* conditions that were false */
    STATS_STORE_BUSY,
    STATS_STORE_FULL,
    STATS_STORE_FAILED,
    STATS_STORE_BYTES_IN, /* bytes of values written */
    STATS_STORE_BYTES_OUT,
    STATS_STORE_COUNTED,
    /* Numbers that the store itself counts. */
    STATS_STORE_KEYS = STATS_STORE_COUNTED,
    STATS_STORE_MAP_BYTES,
    STATS_STORE_USED_BYTES,
    STATS_STORE_COMMITS,
    STATS_STORE_WRITES, /* writes that commits have answered */
    STATS_STORE_SWEPT,
    STATS_STORE_QUEUE_WRITES,
    STATS_STORE_QUEUE_BYTES,
    /* Numbers of a store with a kv_cache. */
    STATS_STORE_CACHE_HITS,
    STATS_STORE_CACHE_MISSES,
    STATS_STORE_CACHE_EVICTIONS,
    STATS_STORE_CACHE_BYTES,
    /* Numbers of a store on other machines. */
    STATS_STORE_CALLS,
    STATS_STORE_RESENT,
    STATS_STORE_TIMEOUTS,
    STATS_STORE_UNREACHABLE,
    STATS_STORE_CONNECTS,
    STATS_STORE_NUMBERS
};

#define STATS_STORE_NUMBER(number) ((uint32_t)1 << (number))
#define STATS_STORE_ALL_COUNTED (STATS_STORE_NUMBER(STATS_STORE_COUNTED) - 1)

/* Identifies a store. */
struct stats_store_options {
    char prefix[STATS_STORE_PREFIX_MAX]; /* "/kv" */
    const char *engine;                  /* "lmdb" or "redis" */
    /* bit N is set if the engine has the number N */
    uint32_t numbers;
};

/* The counters of one store. Each worker has this struct, and so has the main
 * thread. */
struct stats_store {
    struct counter numbers[STATS_STORE_NUMBERS];
};

static inline void stats_store_note(struct stats_store *store,
                                    enum stats_store_number number,
                                    uint64_t more)
{
    counter_add(&store->numbers[number], more);
}

static inline void stats_store_set(struct stats_store *store,
                                   enum stats_store_number number,
                                   uint64_t value)
{
    counter_set(&store->numbers[number], value);
}

static inline bool stats_store_has(const struct stats_store_options *options,
                                   unsigned number)
{
    return (options->numbers | STATS_STORE_ALL_COUNTED) &
           STATS_STORE_NUMBER(number);
}

#endif
