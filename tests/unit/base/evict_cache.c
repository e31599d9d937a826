#include "unit/base/evict_cache.h"

struct cache cache;

void cache_open(enum evict_policy policy, uint64_t bytes_max,
                size_t entries_max)
{
    memset(&cache, 0, sizeof(cache));
    cache.evict = evict_create(policy, bytes_max, entries_max);
    assert_non_null(cache.evict);
}

void cache_insert(int id, uint64_t bytes)
{
    struct evict_node *node = &cache.nodes[id];

    node->bytes = bytes;
    assert_true(evict_insert(cache.evict, node));
    cache.inside[id] = true;
}

void cache_take_victims(void)
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

bool cache_request(int id, uint64_t bytes)
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

void cache_remove(int id)
{
    if (!cache.inside[id])
        return;
    evict_remove(cache.evict, &cache.nodes[id]);
    cache.inside[id] = false;
}

void cache_close(void)
{
    for (int id = 0; id < CACHE_IDS; id++)
        cache_remove(id);
    assert_int_equal(evict_entries(cache.evict), 0);
    assert_int_equal(evict_bytes(cache.evict), 0);
    evict_destroy(cache.evict);
}
