/*
 * distribution - counts durations in nanoseconds by buckets: plain numbers to
 * add, subtract and ask for quantiles.
 *
 * The buckets are log-linear, after Gil Tene's HdrHistogram
 * (hdrhistogram.org): every power of two is cut into 64 equal steps, so that a
 * bucket is at most 1/64 of its values wide, whatever their size, and its
 * midpoint is at most 1/128 (0.8 %) away from any of them. Up to 127 ns a
 * bucket is one value.
 *
 *   values    0..127   128..255   256..511   ...   2^41..2^42 - 1
 *   step      1        2          4          ...   2^35
 *   buckets   0..127   128..191   192..255   ...   2304..2367
 *
 * 2^42 ns are 73 minutes; longer times fall into the last bucket, and only the
 * maximum tells how long they were. Zeroed memory is an empty distribution.
 *
 * Invariant: count is the sum of the buckets; if it is not 0, min and max lie
 *            in or beyond the first and the last bucket that is not empty.
 * Thread:    any; values only, of 19 KB: too large for small stacks.
 */
#ifndef OBSERVE_DISTRIBUTION_H
#define OBSERVE_DISTRIBUTION_H

#include <stdint.h>

enum {
    DISTRIBUTION_STEP_BITS = 6,
    DISTRIBUTION_STEPS = 1 << DISTRIBUTION_STEP_BITS,
    DISTRIBUTION_RANGE_BITS = 42,
    DISTRIBUTION_BUCKETS = (DISTRIBUTION_RANGE_BITS - DISTRIBUTION_STEP_BITS +
                            1) *
                           DISTRIBUTION_STEPS
};

struct distribution {
    uint64_t count;
    uint64_t sum; /* modulo 2^64, which is 584 years */
    uint64_t min; /* 0 if count is 0 */
    uint64_t max;
    uint64_t buckets[DISTRIBUTION_BUCKETS];
};

/* The bucket that ns belongs to. */
static inline unsigned distribution_bucket(uint64_t ns)
{
    unsigned shift;

    if (ns >> DISTRIBUTION_RANGE_BITS)
        return DISTRIBUTION_BUCKETS - 1;
    shift = 63 - DISTRIBUTION_STEP_BITS -
            (unsigned)__builtin_clzll(ns | DISTRIBUTION_STEPS);
    return (shift << DISTRIBUTION_STEP_BITS) + (unsigned)(ns >> shift);
}

/* The smallest and the largest value of a bucket; the last has no end. */
uint64_t distribution_bucket_low(unsigned bucket);
uint64_t distribution_bucket_high(unsigned bucket);

/* Adds the values of other, exactly. */
void distribution_add(struct distribution *distribution,
                      const struct distribution *other);

/* Subtracts an earlier state of the same distribution; the values since then
 * remain. The buckets are exact. A min or max that is older than that becomes
 * the midpoint of its bucket. */
void distribution_subtract(struct distribution *distribution,
                           const struct distribution *earlier);

/* Returns the value of rank ceil(q * count), which a share q (0 to 1) of all
 * values does not exceed, to 0.8 %; smallest and largest are exact. 0 if there
 * is no value. */
uint64_t distribution_quantile(const struct distribution *distribution,
                               double q);

/* Returns 0 if there is no value. */
double distribution_mean(const struct distribution *distribution);

/* Counts values that surely do not exceed ns: the bucket around ns counts only
 * if ns is its end. So values up to 1/64 below ns may be missing, but none
 * above is counted. */
uint64_t distribution_count_within(const struct distribution *distribution,
                                   uint64_t ns);

#endif
