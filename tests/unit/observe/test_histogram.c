#include "observe/histogram.h"

#include <math.h>
#include <pthread.h>

#include "suite.h"
#include "unit/draw.h"

enum { VALUES_MAX = 100000 };

static struct histogram histogram;
static struct distribution distribution;
static uint64_t values[VALUES_MAX];
static size_t value_count;

static int set_up(void **state)
{
    (void)state;
    memset(&histogram, 0, sizeof(histogram));
    memset(&distribution, 0, sizeof(distribution));
    value_count = 0;
    draw_seed = 1;
    return 0;
}

static void record(uint64_t ns)
{
    assert_true(value_count < VALUES_MAX);
    values[value_count++] = ns;
    histogram_record(&histogram, ns);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What a sorted list of all values says. */
static uint64_t exact_quantile(double q)
{
    double rank = ceil(q * (double)value_count);

    return values[rank < 1 ? 0 : (size_t)rank - 1];
}

/* Reads the histogram and compares it with the list. */
static void expect_exact_counts(void)
{
    uint64_t sum = 0;

    memset(&distribution, 0, sizeof(distribution));
    histogram_add_to(&histogram, &distribution);
    qsort(values, value_count, sizeof(*values), compare);
    for (size_t i = 0; i < value_count; i++)
        sum += values[i];
    assert_int_equal(distribution.count, value_count);
    assert_true(distribution.sum == sum);
    assert_true(distribution.min == values[0]);
    assert_true(distribution.max == values[value_count - 1]);
    assert_true(distribution_quantile(&distribution, 0) == values[0]);
    assert_true(distribution_quantile(&distribution, 1) ==
                values[value_count - 1]);
}

static void expect_quantiles_to_one_percent(void)
{
    static const double shares[] = {0,   0.001, 0.01,  0.1,    0.5,
                                    0.9, 0.99,  0.999, 0.9999, 1};

    expect_exact_counts();
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        double exact = (double)exact_quantile(shares[i]);
        double got = (double)distribution_quantile(&distribution, shares[i]);

        assert_true(fabs(got - exact) <= 0.01 * exact);
    }
}

/* --- Quantiles against exact ones ----------------------------------------- */

TEST(of_a_constant_every_quantile_is_exact)
{
    for (int i = 0; i < 1000; i++)
        record(987654321);
    expect_quantiles_to_one_percent();
    assert_int_equal(distribution_quantile(&distribution, 0.5), 987654321);
    assert_true(distribution_mean(&distribution) == 987654321);
}

TEST(of_a_single_value_every_quantile_is_exact)
{
    for (unsigned bit = 0; bit < DISTRIBUTION_RANGE_BITS; bit++) {
        set_up(NULL);
        record((UINT64_C(1) << bit) + 1);
        expect_quantiles_to_one_percent();
        assert_true(distribution_quantile(&distribution, 0.5) ==
                    (UINT64_C(1) << bit) + 1);
    }
}

TEST(two_points_far_apart_are_told_apart)
{
    /* The slow ones are 1 %, 2 % and 50 %: just beyond, at and within p99. */
    for (unsigned slow = 1; slow <= 50; slow += slow == 1 ? 1 : 48) {
        set_up(NULL);
        for (unsigned i = 0; i < 10000; i++)
            record(i % 100 < slow ? UINT64_C(60) * 1000000000 : 15000);
        expect_quantiles_to_one_percent();
    }
}

TEST(powers_of_two_and_their_neighbours_keep_the_bound)
{
    for (unsigned bit = 1; bit < DISTRIBUTION_RANGE_BITS; bit++)
        for (unsigned i = 0; i < 30; i++)
            record((UINT64_C(1) << bit) - 1 + i % 3);
    expect_quantiles_to_one_percent();
}

TEST(pareto_tails_keep_the_bound)
{
    for (int i = 0; i < VALUES_MAX; i++) {
        double u = ((double)(draw_bits() >> 11) + 1) / (double)(1ull << 53);

        record((uint64_t)fmin(20000 * pow(u, -1 / 1.1), 4e12));
    }
    expect_quantiles_to_one_percent();
}

TEST(zipf_ranks_keep_the_bound)
{
    for (int i = 0; i < VALUES_MAX; i++) {
        double u = (double)(draw_bits() >> 11) / (double)(1ull << 53);

        record((uint64_t)exp(u * log(1e6)) * 1000);
    }
    expect_quantiles_to_one_percent();
}

TEST(every_size_alike_keeps_the_bound)
{
    for (int i = 0; i < VALUES_MAX; i++)
        record(draw_bits() >> (22 + draw(42)));
    expect_quantiles_to_one_percent();
}

TEST(every_bucket_edge_keeps_the_bound)
{
    for (unsigned i = 0; i < DISTRIBUTION_BUCKETS - 1; i++) {
        record(distribution_bucket_low(i));
        record(distribution_bucket_high(i));
    }
    expect_quantiles_to_one_percent();
}

TEST(small_numbers_are_exact)
{
    for (int i = 0; i < 10000; i++)
        record(draw(128));
    expect_exact_counts();
    for (int i = 0; i <= 1000; i++)
        assert_int_equal(distribution_quantile(&distribution, i / 1000.0),
                         exact_quantile(i / 1000.0));
}

TEST(nothing_and_zero_are_different)
{
    histogram_add_to(&histogram, &distribution);
    assert_int_equal(distribution.count, 0);
    record(0);
    expect_quantiles_to_one_percent();
}

TEST(beyond_the_range_the_maximum_stays_exact)
{
    static const uint64_t huge[] = {UINT64_C(1) << 42, UINT64_C(1) << 50,
                                    UINT64_MAX};
    uint64_t last = distribution_bucket_low(DISTRIBUTION_BUCKETS - 1);

    for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++) {
        set_up(NULL);
        record(1000);
        for (int n = 0; n < 98; n++)
            record(huge[i]);
        record(huge[i]);
        expect_exact_counts();
        assert_true(distribution_quantile(&distribution, 0.5) >= last);
        assert_true(distribution_quantile(&distribution, 0.5) <= huge[i]);
    }
    set_up(NULL);
    record(UINT64_MAX); /* alone, where least and greatest are the same */
    expect_exact_counts();
}

/* --- Reading ------------------------------------------------------------- */

TEST(reading_adds_to_what_is_there)
{
    static struct histogram thirds;
    static struct histogram rest;
    static struct distribution merged;

    for (int i = 0; i < 1000; i++) {
        uint64_t ns = draw_bits() >> (22 + draw(42));

        histogram_record(i % 3 == 0 ? &thirds : &rest, ns);
        histogram_record(&histogram, ns);
    }
    histogram_add_to(&thirds, &merged);
    histogram_add_to(&rest, &merged);
    histogram_add_to(&histogram, &distribution);
    assert_memory_equal(&merged, &distribution, sizeof(merged));
}

/* --- A writer and a reader ----------------------------------------------- */

enum { CONCURRENT = 300000 };

static uint64_t concurrent_value(unsigned i)
{
    return UINT64_C(1) << (i * 7 % 41);
}

static void *record_many(void *context)
{
    (void)context;
    for (unsigned i = 0; i < CONCURRENT; i++)
        histogram_record(&histogram, concurrent_value(i));
    return NULL;
}

/* How many of the promises do not hold. */
static unsigned count_faults(const struct distribution *now,
                             const struct distribution *before)
{
    uint64_t count = 0;
    unsigned faults = 0;

    for (unsigned i = 0; i < DISTRIBUTION_BUCKETS; i++) {
        count += now->buckets[i];
        faults += now->buckets[i] < before->buckets[i];
    }
    faults += count != now->count;
    for (int i = 0; i <= 100; i++) {
        uint64_t value = distribution_quantile(now, i / 100.0);

        faults += value < now->min || value > now->max;
    }
    faults += distribution_mean(now) < (double)now->min;
    faults += distribution_mean(now) > (double)now->max;
    return faults;
}

TEST(reading_while_it_is_written_is_always_consistent)
{
    static struct distribution before;
    unsigned faults = 0;
    pthread_t thread;

    before = (struct distribution){0};
    assert_int_equal(pthread_create(&thread, NULL, record_many, NULL), 0);
    do {
        distribution = (struct distribution){0};
        histogram_add_to(&histogram, &distribution);
        faults += count_faults(&distribution, &before);
        before = distribution;
    } while (distribution.count < CONCURRENT);
    pthread_join(thread, NULL);
    assert_int_equal(faults, 0);

    distribution = (struct distribution){0};
    histogram_add_to(&histogram, &distribution);
    histogram = (struct histogram){0};
    record_many(NULL);
    before = (struct distribution){0};
    histogram_add_to(&histogram, &before);
    assert_memory_equal(&distribution, &before, sizeof(before));
}

SUITE(.each_begin = set_up);
