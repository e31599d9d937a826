/*
 * evict_cache - a cache that keeps nothing but knows what it would keep.
 *
 * Its entries are small numbers, ids; cmocka checks that evict keeps to its
 * contract. One at a time: it stands in a static struct.
 */
#ifndef TESTS_EVICT_CACHE_H
#define TESTS_EVICT_CACHE_H

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "backend/evict.h"

enum { CACHE_IDS = 12000, POLICIES = EVICT_S3FIFO + 1 };

struct cache {
    struct evict *evict;
    bool inside[CACHE_IDS];
    struct evict_node nodes[CACHE_IDS];
    int victims[CACHE_IDS]; /* of the last request */
    int victim_count;
};

static struct cache cache;

static inline void cache_open(enum evict_policy policy, uint64_t bytes_max,
                              size_t entries_max)
{
    memset(&cache, 0, sizeof(cache));
    cache.evict = evict_create(policy, bytes_max, entries_max);
    assert_non_null(cache.evict);
}

static inline void cache_insert(int id, uint64_t bytes)
{
    struct evict_node *node = &cache.nodes[id];

    node->hash = XXH3_64bits(&id, sizeof(id));
    node->bytes = bytes;
    assert_true(evict_insert(cache.evict, node));
    cache.inside[id] = true;
}

static inline void cache_take_victims(void)
{
    struct evict_node *victim;

    cache.victim_count = 0;
    while ((victim = evict_take_victim(cache.evict))) {
        int id = (int)(victim - cache.nodes);

        assert_true(cache.inside[id]);
        cache.inside[id] = false;
        cache.victims[cache.victim_count++] = id;
    }
}

/* Whether id was inside. */
static inline bool cache_request(int id, uint64_t bytes)
{
    cache.victim_count = 0;
    if (cache.inside[id]) {
        evict_hit(cache.evict, &cache.nodes[id]);
        return true;
    }
    cache_insert(id, bytes);
    cache_take_victims();
    return false;
}

static inline void cache_remove(int id)
{
    if (!cache.inside[id])
        return;
    evict_remove(cache.evict, &cache.nodes[id]);
    cache.inside[id] = false;
}

static inline void cache_close(void)
{
    for (int id = 0; id < CACHE_IDS; id++)
        cache_remove(id);
    assert_int_equal(evict_entries(cache.evict), 0);
    assert_int_equal(evict_bytes(cache.evict), 0);
    evict_destroy(cache.evict);
}

#endif
