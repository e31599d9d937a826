/*
 * stats_what_if - how long replies took in sampled intervals, and how long the
 * replies would have taken in other orders (engine/what_if.h).
 *
 * Thread: one thread writes, any thread may read.
 */
#ifndef OBSERVE_STATS_WHAT_IF_H
#define OBSERVE_STATS_WHAT_IF_H

#include "observe/histogram.h"

enum { STATS_WHAT_IF_SIZES = 5 /* the size classes of stats.h */ };

enum stats_what_if {
    STATS_WHAT_IF_DID, /* the real order */
    STATS_WHAT_IF_FIFO,
    STATS_WHAT_IF_FAIR,
    STATS_WHAT_IF_SRPT,
    STATS_WHAT_IF_COUNT
};

struct stats_what_if_times {
    struct histogram all[STATS_WHAT_IF_COUNT];
    /* The sums of the replies' times in ns, for each size class and order. */
    struct counter sums[STATS_WHAT_IF_SIZES][STATS_WHAT_IF_COUNT];
    struct counter counts[STATS_WHAT_IF_SIZES];
};

/* Notes the time of one reply in an order; `size` is the reply's size class. */
static inline void stats_what_if_note(struct stats_what_if_times *times,
                                      enum stats_what_if order, unsigned size,
                                      uint64_t ns)
{
    histogram_record(&times->all[order], ns);
    counter_add(&times->sums[size][order], ns);
    if (order == STATS_WHAT_IF_DID)
        counter_add(&times->counts[size], 1);
}

#endif
