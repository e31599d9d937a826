/*
 * fair_share - a simulated server that shares its link evenly among all
 * responses (processor sharing). The policy fsp sends in the order in which the
 * responses would finish in the simulation. The shares of clients under srpt
 * are computed by client_share.h, not here.
 *
 * Friedman, Henderson, "Fairness and efficiency in web server protocols",
 * SIGMETRICS 2003: serving one response at a time, in the order in which
 * processor sharing would finish them, finishes none of them later than
 * processor sharing would.
 *
 * The simulation's clock is what the real server sends: for every byte that the
 * real server sends, the simulation shares out one byte. With n responses in
 * the simulation the virtual time V rises by 1/n a byte, so a response of b
 * bytes that comes at V finishes at V + b, whatever comes later. So a
 * response's finish is computed once, when it arrives; arriving and finishing
 * cost O(log n).
 *
 * Virtual time is in bytes, with FAIR_SHARE_FRACTION_BITS binary places.
 *
 * Thread: one scheduler's.
 * Owns:   its heap of simulated responses. Their number is bounded: when the
 *         reserve is used up, the response that would finish next leaves early.
 */
#ifndef ENGINE_FAIR_SHARE_H
#define ENGINE_FAIR_SHARE_H

#include "base/heap.h"

enum { FAIR_SHARE_FRACTION_BITS = 12 };

struct fair_share {
    struct heap heap;        /* the simulated responses, by virtual finish */
    struct heap_node *nodes; /* one for each response that may be simulated */
    uint32_t *free_nodes;    /* indexes of the nodes that are free */
    uint32_t free_count;
    uint32_t capacity;
    uint64_t now;  /* V, the virtual time */
    uint64_t rest; /* bytes too few to raise V; shared out later */
};

void fair_share_init(struct fair_share *share);
void fair_share_fini(struct fair_share *share);

/* Makes room for `count` simulated responses in all. Returns 0 or -ENOMEM. */
MUST_USE int fair_share_reserve(struct fair_share *share, size_t count);

/* Adds a response of `bytes` bytes to the simulation. Returns the virtual time
 * at which it will finish. */
uint64_t fair_share_arrive(struct fair_share *share, uint64_t bytes);

/* Shares out `bytes` bytes, which the real server has sent. */
void fair_share_advance(struct fair_share *share, uint64_t bytes);

/* Returns what fair_share_arrive() would return, without adding a response. */
static inline uint64_t fair_share_finish(const struct fair_share *share,
                                         uint64_t bytes)
{
    uint64_t most = (UINT64_MAX - share->now) >> FAIR_SHARE_FRACTION_BITS;

    return share->now +
           ((bytes < most ? bytes : most) << FAIR_SHARE_FRACTION_BITS);
}

#endif
