/*
 * GreedyDual-Size-Frequency - Cherkasova: "Improving WWW Proxies Performance
 * with Greedy-Dual-Size-Frequency Caching Policy", HPL-98-69, 1998.
 *
 * Each node has a priority, which is computed when the node is inserted and
 * again whenever it is used:
 *
 *    L + frequency * cost / size        cost is 1: each hit counts the same
 *
 * The node with the lowest priority is evicted first, and L becomes that
 * priority. So a node that is no longer used sinks as L rises. Many small nodes
 * are kept instead of a large one, which gives the most hits at the expense of
 * bytes.
 *
 * A newcomer whose own priority is too low to stay is refused, and nobody is
 * evicted for it (Cherkasova, Ciardo: "Role of Aging, Frequency, and Size in
 * Web Cache Replacement Policies", HPCN 2001). Unlike in that paper, L rises to
 * the refused priority. Otherwise a cache full of nodes that were once used
 * twice would refuse all new nodes forever.
 */
#include <stdlib.h>

#include "base/evict_priv.h"

/* Priorities are fixed-point numbers in units of 2^-32. Unlike floating point,
 * they keep their resolution as L grows. One use of a node of 256 bytes (less
 * than an entry's own struct) adds 2^24, and L rises by that much only after
 * the whole cache was replaced; so L reaches its maximum after 2^40
 * replacements. From then on, all priorities are equal, and the least recently
 * used node leaves first. */
enum { UNIT_BITS = 32 };

struct gdsf {
    struct evict base;
    struct heap heap; /* lowest priority first, then least recently used */
    uint64_t floor;   /* L in the formula above */
    uint64_t uses;    /* number of all uses, the `tie` in the heap */
    uint64_t entering_priority;
    bool is_entering_sure; /* it is decided that the newcomer stays */
};

static struct gdsf *gdsf_of(struct evict *evict)
{
    return OWNER_OF(evict, struct gdsf, base);
}

static struct evict *create(void)
{
    struct gdsf *gdsf = calloc(1, sizeof(*gdsf));

    if (!gdsf)
        return NULL;
    heap_init(&gdsf->heap);
    return &gdsf->base;
}

static void destroy(struct evict *evict)
{
    struct gdsf *gdsf = gdsf_of(evict);

    heap_fini(&gdsf->heap);
    free(gdsf);
}

static uint64_t priority_of(const struct gdsf *gdsf,
                            const struct evict_node *node)
{
    uint64_t bytes = node->bytes / (UINT64_C(1) + node->others);
    uint64_t worth = ((uint64_t)node->frequency << UNIT_BITS) /
                     (bytes > 0 ? bytes : 1);

    return worth < UINT64_MAX - gdsf->floor ? gdsf->floor + worth : UINT64_MAX;
}

static bool enter(struct evict *evict, struct evict_node *node)
{
    struct gdsf *gdsf = gdsf_of(evict);

    if (!evict_heap_reserve(&gdsf->heap))
        return false;
    node->frequency = 1;
    gdsf->entering_priority = priority_of(gdsf, node);
    gdsf->is_entering_sure = false;
    return true;
}

static void put(struct evict *evict, struct evict_node *node)
{
    struct gdsf *gdsf = gdsf_of(evict);

    heap_put(&gdsf->heap, &node->heap, gdsf->entering_priority, gdsf->uses++);
}

static void drop(struct evict *evict, struct evict_node *node)
{
    heap_drop(&gdsf_of(evict)->heap, &node->heap);
}

static void hit(struct evict *evict, struct evict_node *node)
{
    struct gdsf *gdsf = gdsf_of(evict);

    heap_drop(&gdsf->heap, &node->heap);
    heap_put(&gdsf->heap, &node->heap, priority_of(gdsf, node), gdsf->uses++);
}

static struct evict_node *take(struct evict *evict)
{
    struct gdsf *gdsf = gdsf_of(evict);

    if (evict->entering && !gdsf->is_entering_sure) {
        if (!evict_heap_can_make_room(evict, &gdsf->heap,
                                      gdsf->entering_priority)) {
            gdsf->floor = gdsf->entering_priority;
            return evict->entering;
        }
        gdsf->is_entering_sure = true;
    }
    gdsf->floor = heap_first(&gdsf->heap)->key;
    return evict_node_in(heap_take(&gdsf->heap));
}

const struct evict_rules evict_gdsf = {
    .frequency_max = UINT32_MAX,
    .create = create,
    .destroy = destroy,
    .enter = enter,
    .put = put,
    .hit = hit,
    .drop = drop,
    .take = take,
};
