/*
 * histogram - a distribution in the making: one thread records, any thread
 * reads at any time, and neither waits for the other.
 *
 * Recording is three stores in the usual case, about 2 ns. The writer's order
 * does not matter, since a reader never relies on it: it takes the least and
 * the greatest value first, looks at the buckets between these only, and
 * counts what it finds there. So count is always that of the buckets, and no
 * quantile lies outside of min and max. Of a value that is just being
 * recorded the sum may be seen before the count, or the other way round; what
 * was recorded before is complete.
 *
 * Zeroed memory is an empty histogram. It stays untouched where nothing is
 * recorded: of its 19 KB a few lines are ever written or read.
 *
 * Thread: histogram_record() one thread's; histogram_add_to() any.
 */
#ifndef OBSERVE_HISTOGRAM_H
#define OBSERVE_HISTOGRAM_H

#include "observe/counter.h"
#include "observe/distribution.h"

struct histogram {
    /* private */
    struct counter sum;
    struct counter max;
    struct counter inverse_min; /* ~min, for the sake of zeroed memory */
    struct counter buckets[DISTRIBUTION_BUCKETS];
};

static inline void histogram_record(struct histogram *histogram, uint64_t ns)
{
    counter_add(&histogram->buckets[distribution_bucket(ns)], 1);
    counter_add(&histogram->sum, ns);
    counter_raise(&histogram->max, ns);
    counter_raise(&histogram->inverse_min, ~ns);
}

/* Adds what was recorded so far. */
void histogram_add_to(const struct histogram *histogram,
                      struct distribution *distribution);

#endif
