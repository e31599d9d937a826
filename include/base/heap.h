/*
 * heap - a binary min-heap of nodes that live inside their owners.
 *
 * The heap's array has the keys beside the node pointers, so that sifting
 * touches only the array. Items with equal keys leave in the order of a second
 * number, `tie`, usually an arrival counter.
 *
 * Invariant: items[i] <= items[2i+1], items[2i+2] by (key, tie);
 *            items[i].node->index == i + 1.
 * Thread:    the owner's.
 * Owns:      the array, never the nodes.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct heap_node {
    uint32_t index; /* private: index in heap->items, plus 1; 0: outside */
};

struct heap_item {
    uint64_t key;
    uint64_t tie;
    struct heap_node *node;
};

struct heap {
    struct heap_item *items;
    uint32_t count;
    uint32_t capacity;
};

void heap_init(struct heap *heap);
void heap_fini(struct heap *heap);

/* Makes room for `capacity` nodes in all, so that heap_put() cannot fail.
 * Returns 0, or -ENOMEM with the heap unchanged. */
MUST_USE int heap_reserve(struct heap *heap, size_t capacity);

static inline bool heap_has(const struct heap_node *node)
{
    return node->index != 0;
}

/* Returns the smallest item, valid until the next change; NULL if the heap is
 * empty. */
static inline const struct heap_item *heap_first(const struct heap *heap)
{
    return heap->count > 0 ? heap->items : NULL;
}

/* Returns the key of a node that is inside. */
static inline uint64_t heap_key(const struct heap *heap,
                                const struct heap_node *node)
{
    return heap->items[node->index - 1].key;
}

/* Returns how many items sort before (key, tie). Visits only these items and
 * their children. */
size_t heap_count_before(const struct heap *heap, uint64_t key, uint64_t tie);

/* Inserts a node that is outside. Room must have been reserved for it. */
void heap_put(struct heap *heap, struct heap_node *node, uint64_t key,
              uint64_t tie);

/* Removes and returns the smallest node; NULL if the heap is empty. */
struct heap_node *heap_take(struct heap *heap);

/* Removes a node from any position. Does nothing if the node is outside. */
void heap_drop(struct heap *heap, struct heap_node *node);

/* Changes the key of a node that is inside. */
void heap_rekey(struct heap *heap, struct heap_node *node, uint64_t key);

#endif
