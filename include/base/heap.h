/*
 * heap - a binary min-heap of nodes that live inside their owners.
 *
 * Keys stand in the heap's own array beside the node pointer, so that sifting
 * touches that array only. Equal keys leave in the order of their ties
 * (usually an arrival counter).
 *
 * Invariant: items[i] <= items[2i+1], items[2i+2] by (key, tie);
 *            items[i].node->index == i.
 * Thread:    none of its own; the owner's thread.
 * Owns:      the array, never the nodes.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct heap_node {
    uint32_t index; /* private: index in items + 1; 0 outside */
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

/* Makes room for capacity nodes in all, so that heap_put() cannot fail.
 * 0 or -ENOMEM; the heap stays as it was then. */
MUST_USE int heap_reserve(struct heap *heap, size_t capacity);

static inline bool heap_has(const struct heap_node *node)
{
    return node->index != 0;
}

/* The smallest item, or NULL when empty; valid until the next change. */
static inline const struct heap_item *heap_first(const struct heap *heap)
{
    return heap->count > 0 ? heap->items : NULL;
}

/* The key of a node that is inside. */
static inline uint64_t heap_key(const struct heap *heap,
                                const struct heap_node *node)
{
    return heap->items[node->index - 1].key;
}

/* How many stand before (key, tie). Looks at these and their children only. */
size_t heap_count_before(const struct heap *heap, uint64_t key, uint64_t tie);

/* Puts node in; it must be outside, and room must be reserved. */
void heap_put(struct heap *heap, struct heap_node *node, uint64_t key,
              uint64_t tie);

/* Takes the smallest out; NULL when empty. */
struct heap_node *heap_take(struct heap *heap);

/* Takes out a node wherever it stands; nothing when it is outside. */
void heap_drop(struct heap *heap, struct heap_node *node);

/* Gives a node that is inside another key. */
void heap_rekey(struct heap *heap, struct heap_node *node, uint64_t key);

#endif
