/*
 * SIEVE - Zhang, Yang, Yue, Vigfusson, Rashmi: "SIEVE is Simpler than LRU: an
 * Efficient Turn-Key Eviction Algorithm for Web Caches", NSDI 2024,
 * algorithm 1.
 *
 *    queue: [newest] ... [v] [ ] [v] [ ] ... [oldest]
 *                             ^
 *                  <--------- hand
 *
 * A hit only marks a node as visited. The hand moves from the oldest node
 * towards the newest, clears marks, and evicts the first node without a mark;
 * the nodes that it passed keep their places. The next search begins where this
 * one ended. So newcomers are examined soon, and old nodes that were visited
 * are left alone.
 */
#include <stdlib.h>

#include "base/evict_priv.h"

struct sieve {
    struct evict base;
    struct list queue; /* newest first */
    struct list *hand; /* next node to examine; &queue stands for the oldest */
};

static struct sieve *sieve_of(struct evict *evict)
{
    return OWNER_OF(evict, struct sieve, base);
}

static struct evict *create(void)
{
    struct sieve *sieve = malloc(sizeof(*sieve));

    if (!sieve)
        return NULL;
    list_init(&sieve->queue);
    sieve->hand = &sieve->queue;
    return &sieve->base;
}

static void destroy(struct evict *evict)
{
    free(sieve_of(evict));
}

static void put(struct evict *evict, struct evict_node *node)
{
    list_put_first(&sieve_of(evict)->queue, &node->list_node);
}

static void drop(struct evict *evict, struct evict_node *node)
{
    struct sieve *sieve = sieve_of(evict);

    if (sieve->hand == &node->list_node)
        sieve->hand = node->list_node.prev;
    list_drop(&node->list_node);
}

static struct evict_node *take(struct evict *evict)
{
    struct sieve *sieve = sieve_of(evict);

    for (;;) {
        struct evict_node *node;

        if (sieve->hand == &sieve->queue)
            sieve->hand = sieve->queue.prev;
        node = evict_node_of(sieve->hand);
        if (node->frequency == 0) {
            drop(evict, node);
            return node;
        }
        node->frequency = 0;
        sieve->hand = node->list_node.prev;
    }
}

const struct evict_rules evict_sieve = {
    .frequency_max = 1,
    .create = create,
    .destroy = destroy,
    .put = put,
    .drop = drop,
    .take = take,
};
