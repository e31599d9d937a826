#include "engine/sched.h"

#include <errno.h>

#include "base/list.h"

enum {
    /* Simulated responses per real one: those that are done here long before
     * they would be under fair sharing. */
    SIMULATED_PER_ITEM = 8
};

void sched_init(struct sched *sched, enum sched_policy policy, uint64_t bound)
{
    heap_init(&sched->heap);
    sched->policy = policy;
    sched->bound = bound;
    sched->clock = 0;
    sched->bytes_arrived = 0;
    sched->bytes_waiting = 0;
    fair_share_init(&sched->share);
}

void sched_fini(struct sched *sched)
{
    heap_fini(&sched->heap);
    fair_share_fini(&sched->share);
}

int sched_reserve(struct sched *sched, size_t items)
{
    if (sched->policy == SCHED_POLICY_FSP &&
        fair_share_reserve(&sched->share, items * SIMULATED_PER_ITEM) != 0)
        return -ENOMEM;
    return heap_reserve(&sched->heap, items);
}

void sched_arrive(struct sched *sched, struct sched_item *item, uint64_t bytes,
                  bool is_stream)
{
    item->arrival = ++sched->clock;
    item->is_stream = is_stream;
    if (sched->policy == SCHED_POLICY_FSP) {
        item->stamp = is_stream ? sched->share.now
                                : fair_share_arrive(&sched->share, bytes);
    } else {
        item->stamp = sched->bytes_arrived;
        sched->bytes_arrived += bytes;
    }
}

static uint64_t srpt_key(const struct sched *sched,
                         const struct sched_item *item, uint64_t bytes)
{
    uint64_t key;

    if (sched->bound == 0)
        return bytes;
    if (__builtin_mul_overflow(bytes, sched->bound, &key) ||
        __builtin_add_overflow(key, item->stamp, &key))
        return UINT64_MAX;
    return key;
}

static uint64_t fsp_key(const struct sched_item *item, uint64_t bytes)
{
    uint64_t most = (UINT64_MAX - item->stamp) >> FAIR_SHARE_FRACTION_BITS;

    if (!item->is_stream)
        return item->stamp;
    return item->stamp +
           ((bytes < most ? bytes : most) << FAIR_SHARE_FRACTION_BITS);
}

uint64_t sched_key(const struct sched *sched, const struct sched_item *item,
                   uint64_t bytes)
{
    switch (sched->policy) {
    case SCHED_POLICY_SRPT:
        return srpt_key(sched, item, bytes);
    case SCHED_POLICY_FSP:
        return fsp_key(item, bytes);
    case SCHED_POLICY_FIFO:
        return item->arrival;
    case SCHED_POLICY_FAIR:
        break;
    }
    return UINT64_MAX;
}

bool sched_goes_first(const struct sched *sched, const struct sched_item *item,
                      uint64_t bytes)
{
    const struct heap_item *first = heap_first(&sched->heap);

    uint64_t key = sched_key(sched, item, bytes);

    return !first || key < first->key ||
           (key == first->key && item->arrival < first->tie);
}

size_t sched_count_before(const struct sched *sched,
                          const struct sched_item *item, uint64_t bytes)
{
    return heap_count_before(&sched->heap, sched_key(sched, item, bytes),
                             item->arrival);
}

void sched_put(struct sched *sched, struct sched_item *item, uint64_t bytes)
{
    uint64_t key = sched->policy == SCHED_POLICY_FAIR
                       ? ++sched->clock /* behind all that wait */
                       : sched_key(sched, item, bytes);

    item->bytes = item->is_stream ? 0 : bytes;
    sched->bytes_waiting += item->bytes;
    heap_put(&sched->heap, &item->node, key, item->arrival);
}

struct sched_item *sched_take(struct sched *sched)
{
    struct heap_node *node = heap_take(&sched->heap);
    struct sched_item *item;

    if (!node)
        return NULL;
    item = OWNER_OF(node, struct sched_item, node);
    sched->bytes_waiting -= item->bytes;
    return item;
}

void sched_drop(struct sched *sched, struct sched_item *item)
{
    if (!heap_has(&item->node))
        return;
    sched->bytes_waiting -= item->bytes;
    heap_drop(&sched->heap, &item->node);
}
