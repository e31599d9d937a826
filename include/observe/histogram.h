/*
 * histogram - a distribution that grows: one thread records values, any thread
 * reads at any time, and neither waits for the other.
 *
 * Recording a value is usually three stores, about 2 ns. A reader does not rely
 * on the order of the stores: it reads the minimum and the maximum first, then
 * only the buckets between them, and computes the count from these buckets. So
 * the count always equals the sum of the buckets, and no quantile lies outside
 * of minimum and maximum. A value that is recorded during the reading may be
 * only in the sum or only in the count; all earlier values are in both.
 *
 * Zeroed memory is an empty histogram. A histogram has 19 KB, but only the few
 * cache lines with recorded values are written or read.
 *
 * Thread: only one thread may call histogram_record(), any thread may call
 *         histogram_add_to().
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

/* Adds all values recorded so far to *distribution. */
void histogram_add_to(const struct histogram *histogram,
                      struct distribution *distribution);

#endif
