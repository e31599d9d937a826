#include "base/evict_priv.h"

enum { CAPACITY_MIN = 64 };

bool evict_heap_reserve(struct heap *heap)
{
    return heap->count < heap->capacity ||
           heap_reserve(heap, heap->capacity > 0 ? 2 * heap->capacity
                                                 : CAPACITY_MIN) == 0;
}

/* By how much the entries inside exceed the limits. */
struct excess {
    uint64_t bytes;
    size_t entries;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Visits items at and below index `at`, and subtracts from the excess those
 * whose priority is at most `priority`. Returns true once the excess is
 * covered. An item with a higher priority is skipped together with all items
 * below it, since no priority below an item is lower than its own. */
static bool is_covered(const struct heap *heap, uint32_t at, uint64_t priority,
                       struct excess *excess)
{
    const struct evict_node *node;
    size_t entries;

    if (at >= heap->count || heap->items[at].key > priority)
        return false;
    node = evict_node_in(heap->items[at].node);
    entries = 1 + (size_t)node->others;
    excess->bytes -= smaller(node->bytes, excess->bytes);
    excess->entries -= smaller(entries, excess->entries);
    return (excess->bytes == 0 && excess->entries == 0) ||
           is_covered(heap, 2 * at + 1, priority, excess) ||
           is_covered(heap, 2 * at + 2, priority, excess);
}

bool evict_heap_can_make_room(const struct evict *evict,
                              const struct heap *heap, uint64_t priority)
{
    struct excess excess = {0, 0};

    if (evict->bytes > evict->bytes_max)
        excess.bytes = evict->bytes - evict->bytes_max;
    if (evict->entries > evict->entries_max)
        excess.entries = evict->entries - evict->entries_max;
    return is_covered(heap, 0, priority, &excess);
}
