/*
 * distribution - durations in nanoseconds, counted by buckets. Distributions
 * can be added and subtracted, and have quantiles.
 *
 * The buckets are log-linear, after Gil Tene's HdrHistogram (hdrhistogram.org):
 * every power of two is cut into 64 equal steps. So the width of a bucket is at
 * most 1/64 of its values, and its midpoint is at most 1/128 (0.8 %) away from
 * each of its values. Up to 127 ns, each value has its own bucket.
 *
 *   values    0..127   128..255   256..511   ...   2^41..2^42 - 1
 *   step      1        2          4          ...   2^35
 *   buckets   0..127   128..191   192..255   ...   2304..2367
 *
 * 2^42 ns are 73 minutes. Longer times fall into the last bucket, so only the
 * maximum of such times is known. Zeroed memory is an empty distribution.
 *
 * Invariant: `count` is the sum of the buckets. If `count` is not 0, `min` is
 *            in or below the first bucket that is not empty, and `max` is in or
 *            above the last bucket that is not empty.
 * Thread:    any, without shared state. The struct has 19 KB: too much for
 *            small stacks.
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
    uint64_t sum; /* modulo 2^64 ns, which are 584 years */
    uint64_t min; /* 0 if `count` is 0 */
    uint64_t max;
    uint64_t buckets[DISTRIBUTION_BUCKETS];
};

/* Returns the number of the bucket for a value of `ns`. */
static inline unsigned distribution_bucket(uint64_t ns)
{
    unsigned shift;

    if (ns >> DISTRIBUTION_RANGE_BITS)
        return DISTRIBUTION_BUCKETS - 1;
    shift = 63 - DISTRIBUTION_STEP_BITS -
            (unsigned)__builtin_clzll(ns | DISTRIBUTION_STEPS);
    return (shift << DISTRIBUTION_STEP_BITS) + (unsigned)(ns >> shift);
}

/* Return the smallest and the largest value of a bucket. The last bucket has no
 * upper end, so its largest value is UINT64_MAX. */
uint64_t distribution_bucket_low(unsigned bucket);
uint64_t distribution_bucket_high(unsigned bucket);

/* Adds all values of `other`. No precision is lost. */
void distribution_add(struct distribution *distribution,
                      const struct distribution *other);

/* Subtracts an earlier state of the same distribution, so that only the values
 * recorded later remain. The buckets are exact. If `min` has not fallen since
 * the earlier state, the midpoint of the first remaining bucket replaces `min`.
 * If `max` has not risen, the midpoint of the last bucket replaces `max`. */
void distribution_subtract(struct distribution *distribution,
                           const struct distribution *earlier);

/* Returns the value of rank ceil(q * count), so that a share `q` (0 to 1) of
 * all values does not exceed the result. The error is at most 0.8 %; the
 * smallest and the largest value are exact. Returns 0 if there is no value. */
uint64_t distribution_quantile(const struct distribution *distribution,
                               double q);

/* Returns the mean in nanoseconds; 0 if there is no value. */
double distribution_mean(const struct distribution *distribution);

/* Counts the values that certainly do not exceed `ns`. The bucket that contains
 * `ns` is counted only if `ns` is the bucket's largest value. So values up to
 * 1/64 below `ns` may be missing, but no value above `ns` is counted. */
uint64_t distribution_count_within(const struct distribution *distribution,
                                   uint64_t ns);

#endif
