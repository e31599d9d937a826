#include "observe/distribution.h"

#include <math.h>
#include <stdbool.h>

uint64_t distribution_bucket_low(unsigned bucket)
{
    unsigned shift;

    if (bucket < 2 * DISTRIBUTION_STEPS)
        return bucket;
    shift = (bucket >> DISTRIBUTION_STEP_BITS) - 1;
    return (uint64_t)(DISTRIBUTION_STEPS + bucket % DISTRIBUTION_STEPS)
           << shift;
}

uint64_t distribution_bucket_high(unsigned bucket)
{
    return bucket == DISTRIBUTION_BUCKETS - 1
               ? UINT64_MAX
               : distribution_bucket_low(bucket + 1) - 1;
}

/* Returns the middle of a bucket. The last bucket has no end, and is treated as
 * if it were as wide as the bucket before. */
static uint64_t midpoint(unsigned bucket)
{
    unsigned shift = bucket < 2 * DISTRIBUTION_STEPS
                         ? 0
                         : (bucket >> DISTRIBUTION_STEP_BITS) - 1;

    return distribution_bucket_low(bucket) + (UINT64_C(1) << shift) / 2;
}

void distribution_add(struct distribution *distribution,
                      const struct distribution *other)
{
    if (other->count == 0)
        return;
    if (distribution->count == 0 || distribution->min > other->min)
        distribution->min = other->min;
    if (distribution->max < other->max)
        distribution->max = other->max;
    distribution->count += other->count;
    distribution->sum += other->sum;
    for (unsigned i = distribution_bucket(other->min);
         i <= distribution_bucket(other->max); i++)
        distribution->buckets[i] += other->buckets[i];
}

void distribution_subtract(struct distribution *distribution,
                           const struct distribution *earlier)
{
    bool has_new_min = earlier->count == 0 || distribution->min < earlier->min;
    bool has_new_max = distribution->max > earlier->max;
    unsigned first = DISTRIBUTION_BUCKETS;
    unsigned last = 0;

    distribution->count = 0;
    for (unsigned i = 0; i < DISTRIBUTION_BUCKETS; i++) {
        distribution->buckets[i] -= earlier->buckets[i];
        if (distribution->buckets[i] == 0)
            continue;
        distribution->count += distribution->buckets[i];
        last = i;
        if (first == DISTRIBUTION_BUCKETS)
            first = i;
    }
    if (distribution->count == 0) {
        distribution->sum = distribution->min = distribution->max = 0;
        return;
    }
    distribution->sum -= earlier->sum;
    /* A midpoint must not lie beyond a new `min` or `max` in its bucket. */
    if (!has_new_max) {
        distribution->max = midpoint(last);
        if (has_new_min && distribution->max < distribution->min)
            distribution->max = distribution->min;
    }
    if (!has_new_min) {
        distribution->min = midpoint(first);
        if (distribution->min > distribution->max)
            distribution->min = distribution->max;
    }
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

uint64_t distribution_quantile(const struct distribution *distribution,
                               double q)
{
    double exact_rank = ceil(q * (double)distribution->count);
    uint64_t rank = exact_rank > 1 ? (uint64_t)exact_rank : 1;
    uint64_t seen = 0;
    unsigned bucket = distribution_bucket(distribution->min);

    if (rank >= distribution->count)
        return distribution->max;
    if (rank == 1)
        return distribution->min;
    for (; bucket < DISTRIBUTION_BUCKETS - 1; bucket++) {
        seen += distribution->buckets[bucket];
        if (seen >= rank)
            break;
    }
    return clamp(midpoint(bucket), distribution->min, distribution->max);
}

double distribution_mean(const struct distribution *distribution)
{
    double mean;

    if (distribution->count == 0)
        return 0;
    mean = (double)distribution->sum / (double)distribution->count;
    return fmin(fmax(mean, (double)distribution->min),
                (double)distribution->max);
}

uint64_t distribution_count_within(const struct distribution *distribution,
                                   uint64_t ns)
{
    unsigned end = distribution_bucket(ns);
    uint64_t count = 0;

    if (distribution_bucket_high(end) == ns)
        end++;
    for (unsigned i = 0; i < end; i++)
        count += distribution->buckets[i];
    return count;
}
