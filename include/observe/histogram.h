/*
 * histogram - a distribution in the making: one thread records, any thread
 * reads at any time, and neither waits for the other.
 *
 * Recording is usually three stores, about 2 ns. A reader does not rely on the
 * writer's order: it reads min and max first, then only the buckets between
 * them, and counts what it finds there. So count always equals the buckets, and
 * no quantile lies outside of min and max. Of a value that is just being
 * recorded, the sum may be seen before the count, or the other way round;
 * earlier values are complete.
 *
 * Zeroed memory is an empty histogram. Of its 19 KB, only the few cache lines
 * with recorded values are ever written or read.
 *
 * Thread: one may call histogram_record(), any histogram_add_to().
 */
#ifndef OBSERVE_HISTOGRAM_H
#define OBSERVE_HISTOGRAM_H

#include "observe/counter.h"
#include "observe/distribution.h"

struct histogram {
    /* private */
    struct counter sum;
    struct counter max;
    struct counter inverse_min; /* ~min, so that zeroed memory is valid */
    struct counter buckets[DISTRIBUTION_BUCKETS];
};

static inline void histogram_record(struct histogram *histogram, uint64_t ns)
{
    counter_add(&histogram->buckets[distribution_bucket(ns)], 1);
    counter_add(&histogram->sum, ns);
    counter_raise(&histogram->max, ns);
    counter_raise(&histogram->inverse_min, ~ns);
}

/* Adds all values recorded so far to distribution. */
void histogram_add_to(const struct histogram *histogram,
                      struct distribution *distribution);

#endif
