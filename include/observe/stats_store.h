/*
 * stats_store - what is known of a key-value store: what each worker counts of
 * the questions it asked, and what the store says of itself.
 *
 * How they are told says stats_rows.h. What an engine cannot tell (one on
 * another machine has no map) is not among its numbers, and is shown nowhere.
 *
 * Thread: counters are the worker's whose they are; numbers the main thread's,
 *         once a second and before it reports.
 * Owns:   nothing.
 */
#ifndef OBSERVE_STATS_STORE_H
#define OBSERVE_STATS_STORE_H

#include "base/buf.h"
#include "observe/counter.h"

enum { STATS_STORES_MAX = 8, STATS_STORE_PREFIX_MAX = 204 };

enum stats_store_number {
    /* Counted by workers. A batch that was done counts as one, and by each of
     * its operations; what was not done counts once, by its reason. */
    STATS_STORE_FOUND,
    STATS_STORE_MISSING,
    STATS_STORE_LISTS,
    STATS_STORE_CREATED,
    STATS_STORE_REPLACED,
    STATS_STORE_DELETED,
    STATS_STORE_NOT_DELETED, /* there was no such key */
    STATS_STORE_BATCHES,
    STATS_STORE_PRECONDITIONS, /* that were not true */
    STATS_STORE_BUSY,
    STATS_STORE_FULL,
    STATS_STORE_FAILED,
    STATS_STORE_BYTES_IN, /* of values that were written */
    STATS_STORE_BYTES_OUT,
    STATS_STORE_COUNTED,
    /* Told by the store. */
    STATS_STORE_KEYS = STATS_STORE_COUNTED,
    STATS_STORE_MAP_BYTES,
    STATS_STORE_USED_BYTES,
    STATS_STORE_COMMITS,
    STATS_STORE_WRITES, /* answered by them */
    STATS_STORE_SWEPT,
    STATS_STORE_QUEUE_WRITES,
    STATS_STORE_QUEUE_BYTES,
    /* Told by a store that has a cache in front of it. */
    STATS_STORE_CACHE_HITS,
    STATS_STORE_CACHE_MISSES,
    STATS_STORE_CACHE_EVICTIONS,
    STATS_STORE_CACHE_BYTES,
    /* Told by a store on other machines. */
    STATS_STORE_CALLS,
    STATS_STORE_RESENT,
    STATS_STORE_TIMEOUTS,
    STATS_STORE_UNREACHABLE,
    STATS_STORE_CONNECTS,
    STATS_STORE_NUMBERS
};

#define STATS_STORE_NUMBER(number) ((uint32_t)1 << (number))
#define STATS_STORE_ALL_COUNTED (STATS_STORE_NUMBER(STATS_STORE_COUNTED) - 1)

/* What tells a store from others. */
struct stats_store_options {
    char prefix[STATS_STORE_PREFIX_MAX]; /* "/kv" */
    const char *engine;                  /* "lmdb" or "redis" */
    uint32_t numbers;                    /* that it has, a bit for each */
};

/* One block of each worker, and one of the main thread. */
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
