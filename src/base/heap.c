#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static bool is_less(const struct heap_item *a, const struct heap_item *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static void set(struct heap *heap, uint32_t at, struct heap_item item)
{
    heap->items[at] = item;
    item.node->index = at + 1;
}

/* Moves the hole at `at` towards the root until `item` fits, and fills it. */
static void sift_up(struct heap *heap, uint32_t at, struct heap_item item)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;

        if (!is_less(&item, &heap->items[parent]))
            break;
        set(heap, at, heap->items[parent]);
        at = parent;
    }
    set(heap, at, item);
}

/* Moves the hole at `at` towards the leaves until `item` fits, and fills it. */
static void sift_down(struct heap *heap, uint32_t at, struct heap_item item)
{
    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            is_less(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!is_less(&heap->items[child], &item))
            break;
        set(heap, at, heap->items[child]);
        at = child;
    }
    set(heap, at, item);
}

/* Moves the hole at `at` up or down to where `item` fits, and fills it. */
static void fill(struct heap *heap, uint32_t at, struct heap_item item)
{
    if (at > 0 && is_less(&item, &heap->items[(at - 1) / 2]))
        sift_up(heap, at, item);
    else
        sift_down(heap, at, item);
}

void heap_init(struct heap *heap)
{
    *heap = (struct heap){0};
}

void heap_fini(struct heap *heap)
{
    free(heap->items);
    heap_init(heap);
}

/* Makes room for `capacity` items, by doubling. Room that is never used costs
 * no memory, since its pages are never touched. */
int heap_reserve(struct heap *heap, size_t capacity)
{
    struct heap_item *items;

    if (capacity <= heap->capacity)
        return 0;
    if (capacity > UINT32_MAX / 2)
        return -ENOMEM;
    if (capacity < 2 * (size_t)heap->capacity)
        capacity = 2 * (size_t)heap->capacity;
    items = malloc(capacity * sizeof(*items));
    if (!items)
        return -ENOMEM;
    if (heap->count > 0)
        memcpy(items, heap->items, heap->count * sizeof(*items));
    free(heap->items);
    heap->items = items;
    heap->capacity = (uint32_t)capacity;
    return 0;
}

/* Counts the items at and below index `at` that sort before `item`. If an item
 * does not sort before it, no item below does, so those are not visited. The
 * recursion is as deep as the heap: the logarithm of its count. */
static size_t count_below(const struct heap *heap, uint32_t at,
                          const struct heap_item *item)
{
    if (at >= heap->count || !is_less(&heap->items[at], item))
        return 0;
    return 1 + count_below(heap, 2 * at + 1, item) +
           count_below(heap, 2 * at + 2, item);
}

size_t heap_count_before(const struct heap *heap, uint64_t key, uint64_t tie)
{
    struct heap_item item = {.key = key, .tie = tie};

    return count_below(heap, 0, &item);
}

void heap_put(struct heap *heap, struct heap_node *node, uint64_t key,
              uint64_t tie)
{
    assert(!heap_has(node) && heap->count < heap->capacity);
    sift_up(heap, heap->count++, (struct heap_item){key, tie, node});
}

struct heap_node *heap_take(struct heap *heap)
{
    struct heap_node *node;

    if (heap->count == 0)
        return NULL;
    node = heap->items[0].node;
    heap_drop(heap, node);
    return node;
}

void heap_drop(struct heap *heap, struct heap_node *node)
{
    uint32_t at;
    struct heap_item last;

    if (!heap_has(node))
        return;
    at = node->index - 1;
    node->index = 0;
    last = heap->items[--heap->count];
    if (at < heap->count)
        fill(heap, at, last);
}

void heap_rekey(struct heap *heap, struct heap_node *node, uint64_t key)
{
    uint32_t at = node->index - 1;

    assert(heap_has(node));
    fill(heap, at, (struct heap_item){key, heap->items[at].tie, node});
}
