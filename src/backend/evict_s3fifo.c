/*
 * S3-FIFO - Yang, Zhang, Qiu, Yue, Rashmi: "FIFO queues are all you need for
 * cache eviction", SOSP 2023, algorithm 1.
 *
 *    new --> small (1/10) --- used more than once ---> main (9/10) --> out
 *              |                                        ^  |  ^
 *              +--> out, its hash into ghost            |  +--+ used: again,
 *                          |                            |       one use less
 *    new, and in ghost ----+----------------------------+
 *
 * Most of what comes is never asked for again, and leaves through the small
 * queue without disturbing main; what the ghost queue remembers was thrown out
 * too early, and goes to main at once.
 *
 * Ghost queue as in section 4.2 of the paper: a table of fingerprints with
 * the time they came, time being the number of those that came so far. Who is
 * older than the queue is long has left it; nothing needs to be taken out.
 *
 * Of the paper's main loop one thing differs: when main is full because of a
 * node moved there, the paper evicts one of main and one of small; we take
 * one at a time and stop as soon as there is room.
 */
#include <stdlib.h>

#include "backend/evict_priv.h"

enum { FREQUENCY_MAX = 3, SMALL_PART = 10 };

/* A bucket is as large as a cache line. There are two to four slots for each
 * ghost, so that a bucket is seldom full before its oldest slot is out of
 * date, and no more than 2^16 buckets * 64 bytes = 4 MiB, 2^19 ghosts,
 * whatever entries_max. */
enum { BUCKET_SLOTS = 8, BUCKET_GHOSTS = 4, BUCKETS_MAX = 1 << 16 };

/* Older than any ghost. The clock starts here, so that zeros are no ghosts. */
#define LONG_AGO (UINT32_C(1) << 31)

enum { QUEUE_SMALL = 1, QUEUE_MAIN };

struct slot {
    uint32_t fingerprint;
    uint32_t time;
};

struct bucket {
    struct slot slots[BUCKET_SLOTS];
};

struct queue {
    struct list nodes; /* oldest first */
    uint64_t bytes;
    size_t entries;
};

struct s3fifo {
    struct evict base;
    struct queue small;
    struct queue main;
    uint32_t ghost_time; /* wraps: a slot untouched for all of it may lie */
    size_t ghost_mask;
    struct bucket ghosts[];
};

static struct s3fifo *s3fifo_of(struct evict *evict)
{
    return OWNER_OF(evict, struct s3fifo, base);
}

/* --- Ghosts ------------------------------------------------------------- */

static struct bucket *bucket_of(struct s3fifo *s3fifo, uint64_t hash)
{
    return &s3fifo->ghosts[hash & s3fifo->ghost_mask];
}

static uint32_t fingerprint_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static uint32_t age_of(const struct s3fifo *s3fifo, const struct slot *slot)
{
    return s3fifo->ghost_time - slot->time;
}

/* The slot that has hash already, or else the oldest. */
static void ghost_put(struct s3fifo *s3fifo, uint64_t hash)
{
    struct bucket *bucket = bucket_of(s3fifo, hash);
    struct slot *slot = bucket->slots;

    for (size_t i = 0; i < BUCKET_SLOTS; i++) {
        struct slot *other = &bucket->slots[i];

        if (other->fingerprint == fingerprint_of(hash)) {
            slot = other;
            break;
        }
        if (age_of(s3fifo, other) > age_of(s3fifo, slot))
            slot = other;
    }
    *slot = (struct slot){fingerprint_of(hash), s3fifo->ghost_time++};
}

/* Takes hash out of the ghost queue; whether it was there. */
static bool ghost_take(struct s3fifo *s3fifo, uint64_t hash)
{
    struct bucket *bucket = bucket_of(s3fifo, hash);
    /* As many as main has when it has its nine tenths. Not as many as it has
     * now: it starts with none, and would hardly ever get the first. */
    size_t ghosts = s3fifo->base.entries - s3fifo->base.entries / SMALL_PART;

    for (size_t i = 0; i < BUCKET_SLOTS; i++) {
        struct slot *slot = &bucket->slots[i];

        if (slot->fingerprint == fingerprint_of(hash)) {
            bool is_there = age_of(s3fifo, slot) <= ghosts;

            slot->time = s3fifo->ghost_time - LONG_AGO;
            return is_there;
        }
    }
    return false;
}

/* --- Queues ------------------------------------------------------------- */

static void queue_put(struct queue *queue, struct evict_node *node)
{
    list_put_last(&queue->nodes, &node->link);
    queue->bytes += node->bytes;
    queue->entries++;
}

static void queue_drop(struct queue *queue, struct evict_node *node)
{
    list_drop(&node->link);
    queue->bytes -= node->bytes;
    queue->entries--;
}

static struct evict_node *first_of(const struct queue *queue)
{
    return evict_node_of(queue->nodes.next);
}

/* Whether queue has its part of a limit, of the one that is exceeded. */
static bool is_full(const struct evict *evict, const struct queue *queue,
                    uint64_t bytes_part, size_t entries_part)
{
    return (evict->bytes > evict->bytes_max && queue->bytes >= bytes_part) ||
           (evict->entries > evict->entries_max &&
            queue->entries >= entries_part);
}

static bool is_small_full(const struct s3fifo *s3fifo)
{
    return is_full(&s3fifo->base, &s3fifo->small,
                   s3fifo->base.bytes_max / SMALL_PART,
                   s3fifo->base.entries_max / SMALL_PART);
}

static bool is_main_full(const struct s3fifo *s3fifo)
{
    uint64_t bytes_max = s3fifo->base.bytes_max;
    size_t entries_max = s3fifo->base.entries_max;

    return is_full(&s3fifo->base, &s3fifo->main,
                   bytes_max - bytes_max / SMALL_PART,
                   entries_max - entries_max / SMALL_PART);
}

/* --- The policy --------------------------------------------------------- */

static struct evict *create(size_t entries_max)
{
    size_t buckets = 1;
    struct s3fifo *s3fifo;

    while (buckets < entries_max / BUCKET_GHOSTS && buckets < BUCKETS_MAX)
        buckets *= 2;
    s3fifo = calloc(1, sizeof(*s3fifo) + buckets * sizeof(struct bucket));
    if (!s3fifo)
        return NULL;
    list_init(&s3fifo->small.nodes);
    list_init(&s3fifo->main.nodes);
    s3fifo->ghost_time = LONG_AGO;
    s3fifo->ghost_mask = buckets - 1;
    return &s3fifo->base;
}

static void destroy(struct evict *evict)
{
    free(s3fifo_of(evict));
}

static void put(struct evict *evict, struct evict_node *node)
{
    struct s3fifo *s3fifo = s3fifo_of(evict);

    if (ghost_take(s3fifo, node->hash)) {
        node->queue = QUEUE_MAIN;
        queue_put(&s3fifo->main, node);
    } else {
        node->queue = QUEUE_SMALL;
        queue_put(&s3fifo->small, node);
    }
}

static void drop(struct evict *evict, struct evict_node *node)
{
    struct s3fifo *s3fifo = s3fifo_of(evict);

    queue_drop(node->queue == QUEUE_MAIN ? &s3fifo->main : &s3fifo->small,
               node);
    node->queue = 0;
}

static struct evict_node *take_from_main(struct s3fifo *s3fifo)
{
    struct evict_node *node;

    while ((node = first_of(&s3fifo->main))->frequency > 0) {
        node->frequency--;
        list_drop(&node->link);
        list_put_last(&s3fifo->main.nodes, &node->link);
    }
    drop(&s3fifo->base, node);
    return node;
}

/* Moves what was used to main; the first that was not is the victim. NULL:
 * there is none, or main has become full. */
static struct evict_node *take_from_small(struct s3fifo *s3fifo)
{
    while (s3fifo->small.entries > 0) {
        struct evict_node *node = first_of(&s3fifo->small);

        drop(&s3fifo->base, node);
        if (node->frequency <= 1) {
            ghost_put(s3fifo, node->hash);
            return node;
        }
        node->frequency = 0;
        node->queue = QUEUE_MAIN;
        queue_put(&s3fifo->main, node);
        if (is_main_full(s3fifo))
            break;
    }
    return NULL;
}

static struct evict_node *take(struct evict *evict)
{
    struct s3fifo *s3fifo = s3fifo_of(evict);
    struct evict_node *victim = NULL;

    if (s3fifo->main.entries == 0 || is_small_full(s3fifo))
        victim = take_from_small(s3fifo);
    return victim ? victim : take_from_main(s3fifo);
}

const struct evict_rules evict_s3fifo = {
    .frequency_max = FREQUENCY_MAX,
    .create = create,
    .destroy = destroy,
    .put = put,
    .drop = drop,
    .take = take,
};
