/*
 * The time that a cached byte saves - GreedyDual-Size-Frequency (evict_gdsf.c)
 * with a cost: how long it would take to fetch the entry again. The priority is
 *
 *    L + hits * milliseconds / bytes
 *
 * The entry with the lowest priority is evicted first, and L becomes that
 * priority. So entries that are fetched quickly, are large, or are seldom
 * requested make room for the others.
 *
 * A scan inserts entries that are requested only once. Each of them is worth
 * one hit, has the lowest priority, and is evicted to make room for the next. L
 * rises by the worth of one hit only after all other entries with the lowest
 * priority have gone, so an entry with n hits outlives about n caches full of
 * such newcomers. Hits count only up to HITS_MAX, so that an entry that was
 * popular for a day is not kept for a week.
 */
#include <stdlib.h>

#include "base/evict_priv.h"

/* Priorities are fixed-point numbers in units of 2^-32. The largest worth is
 * 2^46: 64 hits on 256 bytes that take a minute to fetch. So a cache can be
 * refilled 2^18 times with such entries before priorities reach their maximum,
 * where only the order of use counts. */
enum { UNIT_BITS = 32, HITS_MAX = 64, COST_MAX = 65535 };

struct saved {
    struct evict base;
    struct heap heap;      /* lowest priority first, then least recently used */
    uint64_t floor;        /* L in the formula above */
    uint64_t uses;         /* number of all uses, the `tie` in the heap */
    bool is_entering_sure; /* it is decided that the newcomer stays */
};

static struct saved *saved_of(struct evict *evict)
{
    return OWNER_OF(evict, struct saved, base);
}

static struct evict *create(void)
{
    struct saved *saved = calloc(1, sizeof(*saved));

    if (!saved)
        return NULL;
    heap_init(&saved->heap);
    return &saved->base;
}

static void destroy(struct evict *evict)
{
    heap_fini(&saved_of(evict)->heap);
    free(saved_of(evict));
}

/* Returns a node's priority: L plus its worth, which is above 0 even if
 * fetching the node again takes no time. */
static uint64_t priority_of(const struct saved *saved,
                            const struct evict_node *node)
{
    uint64_t cost = node->cost < COST_MAX ? node->cost + 1u : COST_MAX;
    uint64_t worth = (((uint64_t)node->frequency + 1) * cost << UNIT_BITS) /
                     (node->bytes > 0 ? node->bytes : 1);

    return worth < UINT64_MAX - saved->floor ? saved->floor + worth
                                             : UINT64_MAX;
}

static bool enter(struct evict *evict, struct evict_node *node)
{
    struct saved *saved = saved_of(evict);

    (void)node;
    saved->is_entering_sure = false;
    return evict_heap_reserve(&saved->heap);
}

static void put(struct evict *evict, struct evict_node *node)
{
    struct saved *saved = saved_of(evict);

    heap_put(&saved->heap, &node->heap, priority_of(saved, node),
             saved->uses++);
}

static void drop(struct evict *evict, struct evict_node *node)
{
    heap_drop(&saved_of(evict)->heap, &node->heap);
}

static void hit(struct evict *evict, struct evict_node *node)
{
    drop(evict, node);
    put(evict, node);
}

/* Chooses a victim. If the newcomer is worth less than the nodes that it would
 * displace, the newcomer itself is the victim, and L becomes its priority, so
 * that newcomers are not refused forever. */
static struct evict_node *take(struct evict *evict)
{
    struct saved *saved = saved_of(evict);

    if (evict->entering && !saved->is_entering_sure) {
        uint64_t priority = priority_of(saved, evict->entering);

        if (!evict_heap_can_make_room(evict, &saved->heap, priority)) {
            saved->floor = priority;
            return evict->entering;
        }
        saved->is_entering_sure = true;
    }
    saved->floor = heap_first(&saved->heap)->key;
    return evict_node_in(heap_take(&saved->heap));
}

const struct evict_rules evict_saved = {
    .frequency_max = HITS_MAX - 1,
    .create = create,
    .destroy = destroy,
    .enter = enter,
    .put = put,
    .hit = hit,
    .drop = drop,
    .take = take,
};
