#include "base/evict.h"

#include <assert.h>
#include <stdlib.h>

#include "base/evict_priv.h"

static const struct evict_rules *const policies[] = {
    [EVICT_LRU] = &evict_lru,
    [EVICT_GDSF] = &evict_gdsf,
    [EVICT_SIEVE] = &evict_sieve,
    [EVICT_SAVED] = &evict_saved,
};

static bool is_over(const struct evict *evict)
{
    return evict->bytes > evict->bytes_max ||
           evict->entries > evict->entries_max;
}

/* Returns true if the node alone exceeds a limit, so that evicting all others
 * would not make room. */
static bool is_too_large(const struct evict *evict,
                         const struct evict_node *node)
{
    return node->bytes > evict->bytes_max || node->others >= evict->entries_max;
}

/* Moves the newcomer, if any, into the policy's queue. */
static void settle(struct evict *evict)
{
    struct evict_node *node = evict->entering;

    evict->entering = NULL;
    if (node)
        evict->rules->put(evict, node);
}

/* Stops counting a node, which is in no queue any more. */
static void forget(struct evict *evict, struct evict_node *node)
{
    if (evict->entering == node)
        evict->entering = NULL;
    evict->bytes -= node->bytes;
    evict->entries -= 1 + (size_t)node->others;
}

struct evict *evict_create(enum evict_policy policy, uint64_t bytes_max,
                           size_t entries_max)
{
    struct evict *evict = policies[policy]->create();

    assert(bytes_max > 0 && entries_max > 0);
    if (!evict)
        return NULL;
    *evict = (struct evict){.rules = policies[policy],
                            .bytes_max = bytes_max,
                            .entries_max = entries_max};
    return evict;
}

void evict_destroy(struct evict *evict)
{
    if (!evict)
        return;
    assert(evict->entries == 0);
    evict->rules->destroy(evict);
}

bool evict_insert(struct evict *evict, struct evict_node *node)
{
    settle(evict);
    list_init(&node->list_node);
    node->heap = (struct heap_node){0};
    node->frequency = 0;
    if (evict->rules->enter && !evict->rules->enter(evict, node))
        return false;
    evict->entering = node;
    evict->bytes += node->bytes;
    evict->entries += 1 + (size_t)node->others;
    return true;
}

/* Runs once per request. For sieve, only the first statement does anything. */
void evict_hit(struct evict *evict, struct evict_node *node)
{
    if (node->frequency < evict->rules->frequency_max)
        node->frequency++;
    if (evict->rules->hit && node != evict->entering)
        evict->rules->hit(evict, node);
}

void evict_hit_again(struct evict *evict, struct evict_node *node,
                     uint32_t times)
{
    uint32_t room = evict->rules->frequency_max - node->frequency;

    if (times == 0)
        return;
    node->frequency += times - 1 < room ? times - 1 : room;
    evict_hit(evict, node);
}

void evict_set_others(struct evict *evict, struct evict_node *node,
                      uint32_t others)
{
    uint64_t bytes = node->bytes / (UINT64_C(1) + node->others);

    evict->bytes -= node->bytes;
    evict->entries -= node->others;
    node->bytes = bytes * (UINT64_C(1) + others);
    node->others = others;
    evict->bytes += node->bytes;
    evict->entries += others;
}

void evict_remove(struct evict *evict, struct evict_node *node)
{
    if (node != evict->entering)
        evict->rules->drop(evict, node);
    forget(evict, node);
}

struct evict_node *evict_take_victim(struct evict *evict)
{
    struct evict_node *victim = evict->entering;

    if (!is_over(evict)) {
        settle(evict);
        return NULL;
    }
    if (!victim || !is_too_large(evict, victim))
        victim = evict->rules->take(evict);
    forget(evict, victim);
    return victim;
}

struct evict_node *evict_take_next(struct evict *evict)
{
    struct evict_node *victim;

    settle(evict);
    if (evict->entries == 0)
        return NULL;
    victim = evict->rules->take(evict);
    forget(evict, victim);
    return victim;
}

uint64_t evict_bytes(const struct evict *evict)
{
    return evict->bytes;
}

size_t evict_entries(const struct evict *evict)
{
    return evict->entries;
}
