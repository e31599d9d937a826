#include "observe/histogram.h"

void histogram_add_to(const struct histogram *histogram,
                      struct distribution *distribution)
{
    uint64_t min = ~counter_read(&histogram->inverse_min);
    uint64_t max = counter_read(&histogram->max);
    uint64_t count = 0;

    if (min > max)
        return; /* empty, or the first value is being recorded */
    for (unsigned i = distribution_bucket(min); i <= distribution_bucket(max);
         i++) {
        uint64_t more = counter_read(&histogram->buckets[i]);

        distribution->buckets[i] += more;
        count += more;
    }
    if (count == 0)
        return;
    if (distribution->count == 0 || distribution->min > min)
        distribution->min = min;
    if (distribution->max < max)
        distribution->max = max;
    distribution->count += count;
    distribution->sum += counter_read(&histogram->sum);
}
