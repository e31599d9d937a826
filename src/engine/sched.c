#include "engine/sched.h"

#include <errno.h>

#include "base/list.h"

enum {
    /* How many simulated responses there may be for each real one. Many real
     * responses are done long before the simulated ones. */
    SIMULATED_PER_ITEM = 8,
    /* An item's client may get further ahead of its share while the item waits.
     * If the difference is at least this, the item is put anew when its turn
     * comes. */
    EXCESS_STEP = 65536,
    RENEWALS_MAX = 16, /* limit of items put anew before one is taken */
    /* The part of a level in an item's key is at most this many times the
     * item's bytes. Otherwise small items would wait for long in overload, when
     * the levels of all clients are high. */
    LEVEL_TIMES = 8
};

static struct sched_item *item_of(struct heap_node *node)
{
    return OWNER_OF(node, struct sched_item, node);
}

static bool has_clients(const struct sched *sched)
{
    return sched->clients.factor > 0;
}

/* Returns by how much `bytes` bytes raise a key. */
static uint64_t weigh(const struct sched *sched, uint64_t bytes)
{
    uint64_t key;

    if (__builtin_mul_overflow(bytes, sched->bound > 0 ? sched->bound : 1,
                               &key))
        return UINT64_MAX;
    return key;
}

static uint64_t add_up(uint64_t key, uint64_t more)
{
    return more < UINT64_MAX - key ? key + more : UINT64_MAX;
}

/* Returns the item's bytes for client_share, which computes levels from
 * them. */
static uint64_t known_of(const struct sched_item *item)
{
    return item->is_of_many ? 0 : item->bytes;
}

/* Returns how many bytes a level adds to the bytes of an item. A stream gets
 * none. Nor does a connection with many responses, because its candidate tells
 * little of what the client waits for in all. */
static uint64_t part_of_level(const struct sched_item *item, uint64_t level,
                              uint64_t bytes)
{
    if (item->is_stream || item->is_of_many)
        return 0;
    return level / LEVEL_TIMES < bytes ? level : LEVEL_TIMES * bytes;
}

/* Moves an item whose client's level has changed. The client's items are moved
 * one after the other, and keep their order among themselves: part_of_level()
 * never adds less to a longer item than to a shorter one. */
static void on_level(struct client_share *share, struct client_place *place,
                     uint64_t before, uint64_t after)
{
    struct sched *sched = OWNER_OF(share, struct sched, clients);
    struct sched_item *item = OWNER_OF(place, struct sched_item, place);
    uint64_t key;

    if (!heap_has(&item->node))
        return; /* the item is just being put */
    key = heap_key(&sched->heap, &item->node);
    if (key == UINT64_MAX)
        return; /* the item is behind all others already */
    key -= weigh(sched, part_of_level(item, before, item->bytes));
    heap_rekey(&sched->heap, &item->node,
               add_up(key,
                      weigh(sched, part_of_level(item, after, item->bytes))));
}

void sched_init(struct sched *sched, enum sched_policy policy,
                struct sched_bounds bounds)
{
    heap_init(&sched->heap);
    sched->policy = policy;
    sched->bound = bounds.bytes;
    sched->clock = 0;
    sched->bytes_arrived = 0;
    sched->bytes_waiting = 0;
    sched->bytes_sent = 0;
    fair_share_init(&sched->share);
    client_share_init(&sched->clients,
                      policy == SCHED_POLICY_SRPT ? bounds.factor : 0);
    sched->clients.on_level = on_level;
}

void sched_fini(struct sched *sched)
{
    heap_fini(&sched->heap);
    fair_share_fini(&sched->share);
    client_share_fini(&sched->clients);
}

int sched_reserve(struct sched *sched, size_t items)
{
    if (sched->policy == SCHED_POLICY_FSP &&
        fair_share_reserve(&sched->share, items * SIMULATED_PER_ITEM) != 0)
        return -ENOMEM;
    if (client_share_reserve(&sched->clients, items) != 0)
        return -ENOMEM;
    return heap_reserve(&sched->heap, items);
}

void sched_arrive(struct sched *sched, struct sched_item *item, uint64_t client,
                  uint64_t bytes, bool is_stream)
{
    item->arrival = ++sched->clock;
    item->place.client = client;
    item->place.promise = 0;
    item->is_due = false;
    item->is_stream = is_stream;
    if (sched->policy == SCHED_POLICY_FSP) {
        item->stamp = is_stream ? sched->share.now
                                : fair_share_arrive(&sched->share, bytes);
    } else {
        item->stamp = sched->bytes_arrived;
        sched->bytes_arrived += has_clients(sched) ? bytes * (LEVEL_TIMES + 1)
                                                   : bytes;
    }
}

static uint64_t srpt_key(const struct sched *sched,
                         const struct sched_item *item, uint64_t bytes)
{
    uint64_t key;

    if (client_share_is_used(&sched->clients)) {
        uint64_t level = client_share_level(&sched->clients, &item->place);

        bytes = add_up(add_up(bytes, part_of_level(item, level, bytes)),
                       client_share_excess(&sched->clients, &item->place));
        if (bytes == UINT64_MAX)
            return bytes;
    }
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
    if (item->is_due)
        return 0;
    if (sched->policy == SCHED_POLICY_SRPT) /* the usual policy */
        return srpt_key(sched, item, bytes);
    switch (sched->policy) {
    case SCHED_POLICY_SRPT:
        break;
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
    uint64_t key;

    if (!first)
        return true;
    if (client_share_has_due(&sched->clients))
        return false;
    key = sched_key(sched, item, bytes);
    return key < first->key ||
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
    uint64_t key;

    item->is_due = false;
    item->bytes = item->is_stream ? 0 : bytes;
    sched->bytes_waiting += item->bytes;
    if (has_clients(sched)) {
        item->excess = client_share_excess(&sched->clients, &item->place);
        client_share_put(&sched->clients, &item->place,
                         item->is_stream ? CLIENT_SHARE_STREAM : bytes,
                         known_of(item));
    }
    key = sched->policy == SCHED_POLICY_FAIR
              ? ++sched->clock /* behind all items that wait */
              : sched_key(sched, item, bytes);
    heap_put(&sched->heap, &item->node, key, item->arrival);
}

/* Moves the first item back if its client has got further ahead of its share
 * since the item was put. Returns false when the item stays first. */
static bool renew(struct sched *sched, const struct heap_item *first)
{
    struct sched_item *item = item_of(first->node);
    uint64_t excess = client_share_excess(&sched->clients, &item->place);
    uint64_t key;

    if (excess < item->excess + EXCESS_STEP)
        return false;
    key = add_up(first->key, weigh(sched, excess - item->excess));
    item->excess = excess;
    heap_rekey(&sched->heap, &item->node, key);
    return true;
}

/* Takes the next item. If several clients wait, and something of one of them is
 * due, that client's item comes first. Otherwise the first item of the queue
 * does. */
static struct sched_item *take_of_clients(struct sched *sched)
{
    struct client_place *place = client_share_first_due(&sched->clients);
    const struct heap_item *first;
    struct sched_item *item;

    if (place && client_share_waiting(&sched->clients) > 1) {
        item = OWNER_OF(place, struct sched_item, place);
        heap_drop(&sched->heap, &item->node);
    } else {
        for (int i = 0; i < RENEWALS_MAX; i++) {
            first = heap_first(&sched->heap);
            if (!first || !renew(sched, first))
                break;
        }
        if (sched->heap.count == 0)
            return NULL;
        item = item_of(heap_take(&sched->heap));
    }
    item->is_due = place != NULL;
    client_share_take(&sched->clients, &item->place, known_of(item));
    return item;
}

struct sched_item *sched_take(struct sched *sched)
{
    struct heap_node *node;
    struct sched_item *item;

    if (has_clients(sched)) {
        item = take_of_clients(sched);
    } else {
        node = heap_take(&sched->heap);
        item = node ? item_of(node) : NULL;
    }
    if (item)
        sched->bytes_waiting -= item->bytes;
    return item;
}

void sched_drop(struct sched *sched, struct sched_item *item)
{
    if (!heap_has(&item->node))
        return;
    sched->bytes_waiting -= item->bytes;
    heap_drop(&sched->heap, &item->node);
    if (has_clients(sched))
        client_share_drop(&sched->clients, &item->place, known_of(item));
}
