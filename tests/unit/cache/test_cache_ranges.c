#include "cache/cache_ranges.h"

#include "suite.h"

enum { LENGTH = 200, ROUNDS = 3000 };

static struct cache_body_counts counts;

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(counts.filling, 0);
    return 0;
}

SUITE(.each_end = tear_down);

TEST(a_content_range_says_three_numbers_or_nothing)
{
    static const struct {
        const char *text;
        bool is_good;
        uint64_t first, last, length;
    } cases[] = {
        {"bytes 0-0/1", true, 0, 0, 1},
        {"bytes 4-9/10", true, 4, 9, 10},
        {"BYTES 4-9/10", true, 4, 9, 10},
        {"bytes 0-18446744073709551614/18446744073709551615", true, 0,
         UINT64_MAX - 1, UINT64_MAX},
        {"bytes 4-9/18446744073709551616", false, 0, 0, 0},
        {"bytes 9-4/10", false, 0, 0, 0},
        {"bytes 4-10/10", false, 0, 0, 0},
        {"bytes 4-9/*", false, 0, 0, 0},
        {"bytes */10", false, 0, 0, 0},
        {"bytes 4-9", false, 0, 0, 0},
        {"bytes -9/10", false, 0, 0, 0},
        {"bytes 4-/10", false, 0, 0, 0},
        {"bytes 4-9/", false, 0, 0, 0},
        {"bytes 4-9/10 ", false, 0, 0, 0},
        {"bytes  4-9/10", false, 0, 0, 0},
        {"bytes=4-9/10", false, 0, 0, 0},
        {"octets 4-9/10", false, 0, 0, 0},
        {"", false, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct range range;
        uint64_t length;
        bool is_good = cache_ranges_read(bytes_of(cases[i].text), &range,
                                         &length);

        if (is_good != cases[i].is_good)
            fail_msg("'%s'", cases[i].text);
        if (is_good) {
            assert_int_equal(range.first, cases[i].first);
            assert_int_equal(range.last, cases[i].last);
            assert_int_equal(length, cases[i].length);
        }
    }
}

/* A range of a text whose bytes say where they are. */
static struct cache_ranges *make(uint64_t first, uint64_t last, bool is_whole)
{
    struct cache_body *body = cache_body_create(last - first + 1, &counts);
    struct range range = {first, last};
    struct cache_ranges *ranges;
    char text[LENGTH];

    assert_non_null(body);
    for (uint64_t i = 0; i <= last - first; i++)
        text[i] = (char)(first + i);
    assert_true(cache_body_put(body, (struct bytes){text, last - first + 1}));
    cache_body_end(body, is_whole);
    ranges = cache_ranges_create(LENGTH, &range, body);
    assert_non_null(ranges);
    cache_body_release(&body);
    return ranges;
}

/* Fails unless those bytes are there, and right. */
static void assert_bytes(const struct cache_ranges *ranges, uint64_t first,
                         uint64_t last)
{
    while (first <= last) {
        struct part part = cache_ranges_part(ranges, first, last - first + 1);

        assert_true(part.len > 0);
        assert_int_equal(part.kind, PART_MEMORY);
        for (uint64_t i = 0; i < part.len; i++)
            assert_int_equal((unsigned char)part.at.memory[i], first + i);
        first += part.len;
    }
}

/* How many stretches of the model are not there; the last. */
static unsigned count_gaps(const bool *there, struct range *gap_out)
{
    unsigned gaps = 0;

    for (uint64_t i = 0; i < LENGTH; i++) {
        if (there[i])
            continue;
        if (i == 0 || there[i - 1]) {
            gaps++;
            gap_out->first = i;
        }
        gap_out->last = i;
    }
    return gaps;
}

static bool is_there(const bool *there, const struct range *range)
{
    for (uint64_t i = range->first; i <= range->last; i++)
        if (!there[i])
            return false;
    return true;
}

TEST(what_is_joined_is_there_as_a_naive_model_has_it)
{
    struct cache_ranges *ranges = NULL;
    bool there[LENGTH] = {false};
    unsigned seed = 7, refused = 0, joined = 0;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t first = (uint64_t)rand_r(&seed) % LENGTH;
        uint64_t last = first + (uint64_t)rand_r(&seed) % 24;
        struct cache_ranges *fresh, *both;
        struct range asked, gap = {0, 0}, wanted_gap = {0, 0};

        if (last >= LENGTH)
            last = LENGTH - 1;
        fresh = make(first, last, true);
        both = ranges ? cache_ranges_join(ranges, fresh, 1 << 20) : NULL;
        if (!both) { /* there are too many: it begins anew */
            refused += ranges != NULL;
            memset(there, false, sizeof(there));
            both = fresh;
            fresh = NULL;
        } else {
            joined++;
        }
        for (uint64_t k = first; k <= last; k++)
            there[k] = true;
        cache_ranges_destroy(fresh);
        cache_ranges_destroy(ranges);
        ranges = both;
        asked.first = (uint64_t)rand_r(&seed) % LENGTH;
        asked.last = asked.first +
                     (uint64_t)rand_r(&seed) % (LENGTH - asked.first);
        assert_int_equal(cache_ranges_has(ranges, &asked),
                         is_there(there, &asked));
        if (is_there(there, &asked))
            assert_bytes(ranges, asked.first, asked.last);
        assert_int_equal(cache_ranges_find_gap(ranges, &gap),
                         count_gaps(there, &wanted_gap) == 1);
        if (count_gaps(there, &wanted_gap) == 1) {
            assert_int_equal(gap.first, wanted_gap.first);
            assert_int_equal(gap.last, wanted_gap.last);
        }
    }
    assert_true(joined > ROUNDS / 2);
    assert_true(refused < ROUNDS / 4);
    cache_ranges_destroy(ranges);
}

TEST(what_has_broken_off_is_not_there_and_is_left_out)
{
    struct cache_ranges *broken = make(0, 9, false),
                        *fresh = make(10, 19, true);
    struct cache_ranges *both = cache_ranges_join(broken, fresh, 1 << 20);

    assert_false(cache_ranges_has(broken, &(struct range){0, 9}));
    assert_int_equal(both->count, 1);
    assert_true(cache_ranges_has(both, &(struct range){10, 19}));
    cache_ranges_destroy(broken);
    cache_ranges_destroy(fresh);
    cache_ranges_destroy(both);
}

TEST(what_would_be_too_much_is_not_joined)
{
    struct cache_ranges *first = make(0, 9, true), *second = make(20, 29, true);

    assert_null(cache_ranges_join(first, second,
                                  cache_ranges_footprint(first)));
    cache_ranges_destroy(first);
    cache_ranges_destroy(second);
}

TEST(a_range_that_is_cut_in_two_counts_once)
{
    struct cache_ranges *first = make(0, 99, true),
                        *second = make(40, 49, true);
    struct cache_ranges *both = cache_ranges_join(first, second, 1 << 20);

    assert_int_equal(both->count, 3);
    assert_int_equal(cache_ranges_footprint(both),
                     cache_ranges_footprint(first) +
                         cache_ranges_footprint(second) - sizeof(*both));
    assert_bytes(both, 0, 99);
    cache_ranges_destroy(first);
    cache_ranges_destroy(second);
    cache_ranges_destroy(both);
}
