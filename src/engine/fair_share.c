#include "engine/fair_share.h"

#include <errno.h>
#include <stdlib.h>

void fair_share_init(struct fair_share *share)
{
    *share = (struct fair_share){0};
    heap_init(&share->heap);
}

void fair_share_fini(struct fair_share *share)
{
    heap_fini(&share->heap);
    free(share->nodes);
    free(share->free_nodes);
    fair_share_init(share);
}

/* Moves the nodes to new memory, and makes the heap point to them there. */
static void move_nodes(struct fair_share *share, struct heap_node *to)
{
    for (uint32_t i = 0; i < share->heap.count; i++) {
        struct heap_item *item = &share->heap.items[i];
        ptrdiff_t at = item->node - share->nodes;

        to[at] = *item->node;
        item->node = &to[at];
    }
    free(share->nodes);
    share->nodes = to;
}

int fair_share_reserve(struct fair_share *share, size_t count)
{
    struct heap_node *nodes;
    uint32_t *free_nodes;

    if (count <= share->capacity)
        return 0;
    if (heap_reserve(&share->heap, count) != 0)
        return -ENOMEM;
    free_nodes = realloc(share->free_nodes, count * sizeof(*free_nodes));
    if (!free_nodes)
        return -ENOMEM;
    share->free_nodes = free_nodes;
    nodes = calloc(count, sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    move_nodes(share, nodes);
    for (uint32_t i = share->capacity; i < count; i++)
        share->free_nodes[share->free_count++] = i;
    share->capacity = (uint32_t)count;
    return 0;
}

static void leave(struct fair_share *share)
{
    const struct heap_node *node = heap_take(&share->heap);

    share->free_nodes[share->free_count++] = (uint32_t)(node - share->nodes);
}

uint64_t fair_share_arrive(struct fair_share *share, uint64_t bytes)
{
    uint64_t finish = fair_share_finish(share, bytes);

    if (share->capacity == 0)
        return finish;
    if (share->free_count == 0)
        leave(share);
    heap_put(&share->heap,
             &share->nodes[share->free_nodes[--share->free_count]], finish, 0);
    return finish;
}

void fair_share_advance(struct fair_share *share, uint64_t bytes)
{
    uint64_t most = INT64_MAX >> FAIR_SHARE_FRACTION_BITS; /* adding rest cannot
                                                              overflow */
    uint64_t credit = share->rest + ((bytes < most ? bytes : most)
                                     << FAIR_SHARE_FRACTION_BITS);

    share->rest = 0;
    while (share->heap.count > 0) {
        uint64_t each = credit / share->heap.count;
        uint64_t until_next = heap_first(&share->heap)->key - share->now;

        if (each < until_next) {
            share->now += each;
            share->rest = credit - each * share->heap.count;
            return;
        }
        share->now += until_next;
        credit -= until_next * share->heap.count;
        leave(share);
    }
}
