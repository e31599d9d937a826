/*
 * evict - decides which entry of a bounded cache is evicted when room is
 * needed.
 *
 *   lru     evicts the least recently used entry.
 *   gdsf    GreedyDual-Size-Frequency: evicts the entry with the lowest
 *           L + frequency * cost / size, with cost 1; evict_gdsf.c explains L
 *           (Cherkasova, HPL-98-69, 1998).
 *   saved   as gdsf, but the owner sets the cost of each entry.
 *   sieve   SIEVE: a hand sweeps from the oldest entry, skips visited entries
 *           and clears their mark, and evicts the first unvisited entry
 *           (Zhang et al., NSDI 2024).
 *
 * A hit costs one store to memory in sieve, moving a list node in lru, and
 * O(log n) steps in gdsf and saved.
 * The cache keeps its own index; evict knows only nodes, so that the file cache
 * and other caches share it. S3-FIFO (Yang et al., SOSP 2023) was tried: its
 * hit ratios were within a point of sieve's, with three times the code.
 *
 * Invariant: after evict_take_victim() has returned NULL, the nodes inside hold
 *            at most bytes_max bytes, and there are at most entries_max of
 *            them.
 * Thread:    one owner at a time; no locks inside.
 * Owns:      its queues, never the nodes.
 */
#ifndef BASE_EVICT_H
#define BASE_EVICT_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/heap.h"
#include "base/list.h"

enum evict_policy { EVICT_LRU, EVICT_GDSF, EVICT_SIEVE, EVICT_SAVED };

/* Embedded in each cache entry. The owner sets `bytes`, `cost` and `others`
 * before evict_insert(), and does not change them while the node is inside; the
 * other members are private. */
struct evict_node {
    uint64_t bytes; /* memory that the entry occupies */
    struct list list_node;
    struct heap_node heap; /* used in gdsf and saved only */
    uint32_t frequency;    /* number of hits; in sieve, 1 if visited */
    /* How many more entries the node represents (miniature.h), or 0. Set by the
     * owner. The node's `bytes` include the bytes of these entries. */
    uint32_t others;
    /* How many milliseconds it takes to fetch the entry again. Set by the
     * owner, for saved only. */
    uint32_t cost;
};

struct evict; /* opaque */

/* Makes an evict without nodes, for a cache of at most bytes_max bytes and
 * entries_max entries, both at least 1. Returns NULL if there is no memory. */
MUST_USE struct evict *evict_create(enum evict_policy policy,
                                    uint64_t bytes_max, size_t entries_max);
void evict_destroy(struct evict *evict); /* no node may be inside */

/* Inserts a new entry. The caller then takes victims until there are none. The
 * new entry itself may be a victim: if it alone is too large, or, in gdsf and
 * saved, if it is worth less than the entries that it would displace. So an
 * owner that still uses the entry must hold a reference to it. Returns false if
 * there is no memory; the entry is then outside. */
MUST_USE bool evict_insert(struct evict *evict, struct evict_node *node);

/* Records one use of an entry that is inside. */
void evict_hit(struct evict *evict, struct evict_node *node);

/* Records `times` consecutive uses of an entry that is inside. */
void evict_hit_again(struct evict *evict, struct evict_node *node,
                     uint32_t times);

/* Sets how many more entries a node represents, and multiplies its bytes to
 * match. The node is inside and keeps its place. The caller then takes
 * victims. */
void evict_set_others(struct evict *evict, struct evict_node *node,
                      uint32_t others);

/* Removes an entry that its owner no longer wants. */
void evict_remove(struct evict *evict, struct evict_node *node);

/* Removes the next victim, and returns it; NULL if the limits are kept. */
struct evict_node *evict_take_victim(struct evict *evict);

/* Removes the next victim even if the limits are kept, for an owner that
 * applies one limit to several caches. Returns NULL if the cache is empty. */
struct evict_node *evict_take_next(struct evict *evict);

/* Return the bytes and the number of the entries inside. The entries that a
 * node represents (`others`) are included. */
uint64_t evict_bytes(const struct evict *evict);
size_t evict_entries(const struct evict *evict);

#endif
