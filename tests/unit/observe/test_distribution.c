#include "observe/distribution.h"

#include "suite.h"
#include "unit/draw.h"

static struct distribution first;
static struct distribution second;
static struct distribution both;

static void put(struct distribution *distribution, uint64_t ns)
{
    if (distribution->count == 0 || ns < distribution->min)
        distribution->min = ns;
    if (ns > distribution->max)
        distribution->max = ns;
    distribution->buckets[distribution_bucket(ns)]++;
    distribution->count++;
    distribution->sum += ns;
}

static int set_up(void **state)
{
    (void)state;
    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    memset(&both, 0, sizeof(both));
    draw_seed = 1;
    return 0;
}

/* From a nanosecond to the end of the range, all sizes alike. */
static uint64_t draw_ns(void)
{
    return draw_bits() >> (22 + draw(42));
}

/* --- Buckets -------------------------------------------------------------- */

TEST(buckets_follow_each_other_without_a_gap)
{
    assert_int_equal(distribution_bucket_low(0), 0);
    for (unsigned i = 0; i < DISTRIBUTION_BUCKETS; i++) {
        uint64_t low = distribution_bucket_low(i);
        uint64_t high = distribution_bucket_high(i);

        assert_true(low <= high);
        assert_int_equal(distribution_bucket(low), i);
        assert_int_equal(distribution_bucket(high), i);
        if (i > 0)
            assert_true(low == distribution_bucket_high(i - 1) + 1);
    }
}

TEST(no_bucket_is_wider_than_a_64th_of_its_values)
{
    for (unsigned i = 1; i < DISTRIBUTION_BUCKETS - 1; i++) {
        uint64_t low = distribution_bucket_low(i);

        assert_true((distribution_bucket_high(i) - low + 1 - 1) * 64 <= low);
    }
}

TEST(the_range_goes_beyond_an_hour)
{
    assert_true(distribution_bucket_low(DISTRIBUTION_BUCKETS - 1) >
                UINT64_C(3600) * 1000000000);
    assert_int_equal(distribution_bucket(UINT64_MAX), DISTRIBUTION_BUCKETS - 1);
    assert_true(distribution_bucket_high(DISTRIBUTION_BUCKETS - 1) ==
                UINT64_MAX);
}

/* --- Nothing, one -------------------------------------------------------- */

TEST(nothing_seen_is_all_zeros)
{
    for (int i = 0; i <= 10; i++)
        assert_int_equal(distribution_quantile(&first, i / 10.0), 0);
    assert_true(distribution_mean(&first) == 0);
    assert_int_equal(distribution_count_within(&first, UINT64_MAX), 0);
}

TEST(a_single_value_is_every_quantile_exactly)
{
    put(&first, 123456789);
    for (int i = 0; i <= 10; i++)
        assert_int_equal(distribution_quantile(&first, i / 10.0), 123456789);
    assert_true(distribution_mean(&first) == 123456789);
}

TEST(a_quantile_is_the_value_of_its_rank)
{
    for (unsigned ns = 1; ns <= 100; ns++)
        put(&first, ns);
    assert_int_equal(distribution_quantile(&first, 0), 1);
    assert_int_equal(distribution_quantile(&first, 0.01), 1);
    assert_int_equal(distribution_quantile(&first, 0.5), 50);
    assert_int_equal(distribution_quantile(&first, 0.501), 51);
    assert_int_equal(distribution_quantile(&first, 0.9), 90);
    assert_int_equal(distribution_quantile(&first, 0.99), 99);
    assert_int_equal(distribution_quantile(&first, 0.999), 100);
    assert_int_equal(distribution_quantile(&first, 1), 100);
    assert_true(distribution_mean(&first) == 50.5);
}

/* --- Adding and subtracting ---------------------------------------------- */

TEST(adding_is_as_if_one_had_seen_all)
{
    for (int i = 0; i < 20000; i++) {
        uint64_t ns = draw_ns();

        put(draw(3) == 0 ? &first : &second, ns);
        put(&both, ns);
    }
    distribution_add(&first, &second);
    assert_memory_equal(&first, &both, sizeof(both));
}

TEST(adding_nothing_changes_nothing)
{
    put(&first, 500);
    both = first;
    distribution_add(&first, &second);
    assert_memory_equal(&first, &both, sizeof(both));
    distribution_add(&second, &first);
    assert_memory_equal(&second, &both, sizeof(both));
}

TEST(subtracting_leaves_what_was_seen_since)
{
    struct distribution *since = &second;
    struct distribution *later = &both;

    for (int i = 0; i < 20000; i++) {
        uint64_t ns = draw_ns();

        if (i < 10000)
            put(&first, ns);
        else
            put(since, ns);
        put(later, ns);
    }
    distribution_subtract(later, &first);
    assert_int_equal(later->count, since->count);
    assert_true(later->sum == since->sum);
    assert_memory_equal(later->buckets, since->buckets, sizeof(since->buckets));
    for (int i = 0; i <= 1000; i++) {
        double got = (double)distribution_quantile(later, i / 1000.0);
        double exact = (double)distribution_quantile(since, i / 1000.0);

        assert_true(got >= exact * 0.99 && got <= exact * 1.01);
    }
}

TEST(subtracting_itself_leaves_nothing)
{
    put(&first, 10);
    put(&first, 5000000);
    second = first;
    distribution_subtract(&first, &second);
    assert_memory_equal(&first, &both, sizeof(both));
}

TEST(new_extremes_stay_exact_when_subtracting)
{
    put(&first, 1000000);
    second = first;
    put(&second, 3);
    put(&second, 7000003);
    distribution_subtract(&second, &first);
    assert_int_equal(second.count, 2);
    assert_int_equal(second.min, 3);
    assert_int_equal(second.max, 7000003);

    /* What is new shares its bucket with what is not: 128 and 129. */
    for (int i = 0; i < 2; i++) {
        memset(&first, 0, sizeof(first));
        put(&first, i == 0 ? 128 : 1000);
        put(&first, i == 0 ? 1 : 129);
        second = first;
        put(&second, i == 0 ? 129 : 128);
        distribution_subtract(&second, &first);
        assert_int_equal(second.count, 1);
        assert_true(second.min <= second.max);
    }
}

TEST(after_subtracting_min_is_never_above_max)
{
    for (int i = 0; i < 20000; i++) {
        unsigned range = 200 + draw(200);

        memset(&first, 0, sizeof(first));
        for (unsigned n = draw(4); n > 0; n--)
            put(&first, draw(range));
        second = first;
        for (unsigned n = 1 + draw(3); n > 0; n--)
            put(&second, draw(range));
        distribution_subtract(&second, &first);
        assert_true(second.min <= second.max);
        assert_true(second.min <= distribution_quantile(&second, 0.5));
        assert_true(second.max >= distribution_quantile(&second, 0.5));
    }
}

/* --- Bounds -------------------------------------------------------------- */

TEST(counting_within_a_bound_never_counts_more)
{
    static uint64_t values[5000];

    for (int i = 0; i < 5000; i++)
        put(&first, values[i] = draw_ns());
    for (int i = 0; i < 500; i++) {
        uint64_t bound = draw_ns();
        uint64_t within = distribution_count_within(&first, bound);
        uint64_t exact = 0;
        uint64_t least = 0; /* what is surely below the cut bucket */

        for (int n = 0; n < 5000; n++) {
            exact += values[n] <= bound;
            least += values[n] < bound - bound / 64;
        }
        assert_true(within <= exact);
        assert_true(within >= least);
    }
}

TEST(a_bound_at_the_end_of_a_bucket_counts_it)
{
    put(&first, 128);
    put(&first, 129);
    put(&first, 130);
    assert_int_equal(distribution_count_within(&first, 128), 0);
    assert_int_equal(distribution_count_within(&first, 129), 2);
    assert_int_equal(distribution_count_within(&first, 130), 2);
    assert_int_equal(distribution_count_within(&first, 131), 3);
    assert_int_equal(distribution_count_within(&first, UINT64_MAX), 3);
}

SUITE(.each_begin = set_up);
