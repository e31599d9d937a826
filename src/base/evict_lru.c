/*
 * Least recently used: one queue in the order of use. The other policies are
 * measured against this one. Its weakness: a scan longer than the cache
 * replaces everything in it.
 */
#include <stdlib.h>

#include "base/evict_priv.h"

struct lru {
    struct evict base;
    struct list queue; /* least recently used first */
};

static struct lru *lru_of(struct evict *evict)
{
    return OWNER_OF(evict, struct lru, base);
}

static struct evict *create(void)
{
    struct lru *lru = malloc(sizeof(*lru));

    if (!lru)
        return NULL;
    list_init(&lru->queue);
    return &lru->base;
}

static void destroy(struct evict *evict)
{
    free(lru_of(evict));
}

static void put(struct evict *evict, struct evict_node *node)
{
    list_put_last(&lru_of(evict)->queue, &node->list_node);
}

static void drop(struct evict *evict, struct evict_node *node)
{
    (void)evict;
    list_drop(&node->list_node);
}

static void hit(struct evict *evict, struct evict_node *node)
{
    drop(evict, node);
    put(evict, node);
}

static struct evict_node *take(struct evict *evict)
{
    struct evict_node *victim = evict_node_of(lru_of(evict)->queue.next);

    drop(evict, victim);
    return victim;
}

const struct evict_rules evict_lru = {
    .create = create,
    .destroy = destroy,
    .put = put,
    .hit = hit,
    .drop = drop,
    .take = take,
};
