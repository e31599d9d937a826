/*
 * evict_cache - a cache that keeps nothing but knows what it would keep.
 *
 * Its entries are small numbers, ids; cmocka checks that evict keeps to its
 * contract. One at a time: it stands in a static struct.
 */
#ifndef UNIT_EVICT_CACHE_H
#define UNIT_EVICT_CACHE_H

#include "suite.h"

#include "base/evict.h"

enum { CACHE_IDS = 12000, POLICIES = EVICT_SAVED + 1 };

struct cache {
    struct evict *evict;
    bool inside[CACHE_IDS];
    struct evict_node nodes[CACHE_IDS];
    int victims[CACHE_IDS]; /* of the last request */
    int victim_count;
};

extern struct cache cache;

void cache_open(enum evict_policy policy, uint64_t bytes_max,
                size_t entries_max);
void cache_insert(int id, uint64_t bytes);
void cache_take_victims(void);

/* Whether id was inside. */
bool cache_request(int id, uint64_t bytes);

void cache_remove(int id);
void cache_close(void);

#endif
