/*
 * evict - which entry of a bounded cache goes when room is needed.
 *
 *   lru     least recently used.
 *   gdsf    GreedyDual-Size-Frequency: lowest L + frequency * cost / size,
 *           cost 1 (Cherkasova, HPL-98-69, 1998).
 *   saved   what a byte saves: the same with the cost that the owner says.
 *   sieve   SIEVE: a hand that sweeps from the oldest, skips and clears the
 *           visited, takes the first unvisited (Zhang et al., NSDI 2024).
 *
 * A hit costs a store in sieve, a relink in lru, O(log n) in gdsf and saved.
 * The cache keeps its own index; evict knows nodes only, so that the file cache
 * and other caches share it. S3-FIFO (Yang et al., SOSP 2023) was here, too:
 * its hit ratios were within a point of sieve's, at three times the code.
 *
 * Invariant: after evict_take_victim() returned NULL, the nodes inside hold
 *            at most bytes_max bytes and number at most entries_max.
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

/* Inside each cache entry. bytes, cost and others are set by the owner before
 * evict_insert() and stay as they are while inside; the rest is private. */
struct evict_node {
    uint64_t bytes; /* what the entry occupies */
    struct list list_node;
    struct heap_node heap; /* of gdsf and saved only */
    uint32_t frequency;    /* gdsf, saved: hits; sieve: 1 once visited */
    /* Set by the owner: how many others like it the node stands for, whose
     * bytes are among its own (miniature.h). Else 0. */
    uint32_t others;
    /* Set by the owner, for saved: milliseconds that it takes to get the entry
     * again. */
    uint32_t cost;
};

struct evict; /* opaque */

/* NULL: no memory. bytes_max and entries_max are at least 1. */
MUST_USE struct evict *evict_create(enum evict_policy policy,
                                    uint64_t bytes_max, size_t entries_max);
void evict_destroy(struct evict *evict); /* no node may be inside */

/* Lets a new entry in; the caller then takes victims until there are none.
 * The entry just let in may be among them when it alone is too large, or
 * (gdsf) worth less than all that is inside; an owner with borrowed
 * references keeps it alive by its own count. False: no memory, node is not
 * inside. */
MUST_USE bool evict_insert(struct evict *evict, struct evict_node *node);

/* Notes a use of an entry that is inside. */
void evict_hit(struct evict *evict, struct evict_node *node);

/* Notes so many uses, one after the other, of an entry that is inside. */
void evict_hit_again(struct evict *evict, struct evict_node *node,
                     uint32_t times);

/* Lets a node that is inside stand for so many others: its bytes become those
 * of all of them. It keeps its place; the caller then takes victims. */
void evict_set_others(struct evict *evict, struct evict_node *node,
                      uint32_t others);

/* Takes out an entry that its owner drops for reasons of its own. */
void evict_remove(struct evict *evict, struct evict_node *node);

/* Takes out the entry that goes next, while over a limit; NULL when within
 * the limits. */
struct evict_node *evict_take_victim(struct evict *evict);

/* Takes the next victim whatever the limits are: an owner of several policies
 * has limits of its own for all of them. NULL when there is none. */
struct evict_node *evict_take_next(struct evict *evict);

/* How much is inside now; the others of a node count, too. */
uint64_t evict_bytes(const struct evict *evict);
size_t evict_entries(const struct evict *evict);

#endif
