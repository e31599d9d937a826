/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=pages_open */
#include "engine/what_if.h"

#include <errno.h>
#include <math.h>

#include "suite.h"
#include "unit/draw.h"
#include "unit/memory.h"

enum { RATE = 10000000, COUNT = 200, SECOND_NS = 1000000000 };

static struct what_if what_if;
static struct what_if_mark marks[WHAT_IF_JOBS + 1];
static struct stats *stats;

static int set_up(void **state)
{
    (void)state;
    stats = calloc(1, sizeof(*stats));
    return stats ? what_if_init(&what_if) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    allocations_left = -1;
    what_if_fini(&what_if);
    free(stats);
    return 0;
}

/* Bytes on the wire: a segment each, as long as the payload is. */
static double wire(uint64_t bytes)
{
    return (double)bytes + ceil((double)bytes / 1448) * 66;
}

/* --- Models -------------------------------------------------------------- */

enum { STEP_NS = 200 };

/* The same in small steps: shares[i] is what a job has of a step. */
typedef void share_fn(const double *left, double *shares);

static void share_fifo(const double *left, double *shares)
{
    for (uint32_t i = 0; i < what_if.count; i++) {
        if (left[i] > 0) {
            shares[i] = 1;
            return;
        }
    }
}

static void share_fair(const double *left, double *shares)
{
    int count = 0;

    for (uint32_t i = 0; i < what_if.count; i++)
        count += left[i] > 0;
    for (uint32_t i = 0; i < what_if.count; i++)
        shares[i] = left[i] > 0 ? 1.0 / count : 0;
}

static void share_srpt(const double *left, double *shares)
{
    int least = -1;

    for (uint32_t i = 0; i < what_if.count; i++)
        if (left[i] > 0 && (least < 0 || left[i] < left[least]))
            least = (int)i;
    if (least >= 0)
        shares[least] = 1;
}

static void run_naively(share_fn *share, double *done_ns)
{
    double left[COUNT] = {0};
    uint32_t next = 0;
    uint32_t ended = 0;

    for (double now = 0; ended < what_if.count; now += STEP_NS) {
        double shares[COUNT] = {0};

        while (next < what_if.count &&
               (double)what_if.jobs[next].arrive_ns <= now) {
            left[next] = wire(what_if.jobs[next].bytes) * SECOND_NS / RATE;
            next++;
        }
        share(left, shares);
        for (uint32_t i = 0; i < next; i++) {
            if (left[i] <= 0)
                continue;
            left[i] -= shares[i] * STEP_NS;
            if (left[i] <= 0) {
                done_ns[i] = now + STEP_NS;
                ended++;
            }
        }
    }
}

TEST(models_agree_with_small_steps)
{
    static share_fn *const shares[STATS_WHAT_IF_COUNT] = {
        [STATS_WHAT_IF_FIFO] = share_fifo,
        [STATS_WHAT_IF_FAIR] = share_fair,
        [STATS_WHAT_IF_SRPT] = share_srpt};

    draw_seed = 1967;
    for (int round = 0; round < 3; round++) {
        uint64_t now_ns = 1000;

        what_if.ticks = 0;
        assert_true(what_if_tick(&what_if, now_ns));
        for (int i = 0; i < COUNT; i++) {
            what_if_note(&what_if, &marks[i], 1 + draw(1u << draw(15)), now_ns,
                         true);
            now_ns += draw(400000);
        }
        for (int order = STATS_WHAT_IF_FIFO; order < STATS_WHAT_IF_COUNT;
             order++) {
            uint64_t done_ns[COUNT] = {0};
            double naive_ns[COUNT] = {0};
            double sum = 0;
            double naive_sum = 0;

            what_if_models[order](&what_if, RATE, done_ns);
            run_naively(shares[order], naive_ns);
            for (int i = 0; i < COUNT; i++) {
                assert_true(done_ns[i] >= what_if.jobs[i].arrive_ns);
                sum += (double)done_ns[i];
                naive_sum += naive_ns[i];
                /* Ties of srpt may be broken either way. */
                if (order != STATS_WHAT_IF_SRPT)
                    assert_true(fabs((double)done_ns[i] - naive_ns[i]) < 6e4);
            }
            assert_true(fabs(sum - naive_sum) / COUNT < 6e4);
        }
    }
}

/* --- Samples ------------------------------------------------------------- */

static uint64_t count_of(enum stats_what_if order)
{
    struct distribution sum = {0};

    histogram_add_to(&stats->what_if.all[order], &sum);
    return sum.count;
}

static double mean_of(enum stats_what_if order)
{
    struct distribution sum = {0};

    histogram_add_to(&stats->what_if.all[order], &sum);
    return distribution_mean(&sum);
}

TEST(a_sample_is_noted_and_told_once_in_a_while)
{
    int begun = 0;
    int ended = 0;

    for (uint64_t tick = 0; tick < 20; tick++) {
        if (what_if_has_ended(&what_if)) {
            what_if_tell(&what_if, RATE, tick * SECOND_NS, stats);
            ended++;
            assert_int_equal(tick % WHAT_IF_EVERY, WHAT_IF_SAMPLE);
        }
        if (what_if_tick(&what_if, tick * SECOND_NS)) {
            begun++;
            assert_int_equal(tick % WHAT_IF_EVERY, 0);
        }
        assert_int_equal(what_if.is_noting,
                         tick % WHAT_IF_EVERY < WHAT_IF_SAMPLE);
        what_if_note(&what_if, &marks[0], 100, tick * SECOND_NS + 5, true);
        what_if_end(&what_if, &marks[0], tick * SECOND_NS + 10, true);
        assert_int_equal(marks[0].sample, 0);
    }
    assert_int_equal(begun, 4);
    assert_int_equal(ended, 4);
    assert_int_equal(count_of(STATS_WHAT_IF_DID), 4); /* of first halves */
    assert_int_equal(count_of(STATS_WHAT_IF_SRPT), 4);
}

TEST(a_long_one_before_short_ones_tells_the_orders_apart)
{
    const uint64_t long_bytes = 2000000; /* 0.21 s */

    assert_true(what_if_tick(&what_if, 0));
    what_if_note(&what_if, &marks[0], 0, 0, true); /* nothing */
    what_if_note(&what_if, &marks[0], long_bytes, 0, true);
    for (int i = 1; i <= 9; i++) {
        what_if_note(&what_if, &marks[i], 1000, 1000000, true);
        what_if_end(&what_if, &marks[i], 2000000, true);
    }
    what_if_note(&what_if, &marks[10], 5000, 1000000, true);
    what_if_end(&what_if, &marks[10], 0, false); /* given up */
    what_if_end(&what_if, &marks[0], 210000000, true);
    what_if_tell(&what_if, RATE, 2000000000, stats);
    for (int i = 0; i < STATS_WHAT_IF_COUNT; i++)
        assert_int_equal(count_of((enum stats_what_if)i), 10);
    assert_true(mean_of(STATS_WHAT_IF_FIFO) > 200e6);
    assert_true(mean_of(STATS_WHAT_IF_FAIR) < 25e6);
    assert_true(mean_of(STATS_WHAT_IF_SRPT) < mean_of(STATS_WHAT_IF_FAIR));
    assert_in_range((uint64_t)mean_of(STATS_WHAT_IF_DID), 21800000, 22000000);
}

TEST(what_is_not_done_counts_until_the_end)
{
    what_if_tick(&what_if, 0);
    what_if_note(&what_if, &marks[0], 100000000, 0, false); /* in the way */
    what_if_note(&what_if, &marks[1], 1000, 500000000, true);
    what_if_tell(&what_if, RATE, 2000000000, stats);
    assert_int_equal(count_of(STATS_WHAT_IF_DID), 1);
    assert_true(mean_of(STATS_WHAT_IF_DID) == 1.5e9);
    assert_true(mean_of(STATS_WHAT_IF_FIFO) == 1.5e9);
    assert_true(mean_of(STATS_WHAT_IF_SRPT) < 1e6);
}

TEST(more_than_there_is_room_for_ends_the_sample_early)
{
    what_if_tick(&what_if, 0);
    for (uint64_t i = 0; i <= WHAT_IF_JOBS; i++) {
        assert_true(what_if.has_room);
        what_if_note(&what_if, &marks[i], 1000, i * 1000, true);
    }
    assert_false(what_if.has_room);
    assert_int_equal(marks[WHAT_IF_JOBS].sample, 0);
    what_if_end(&what_if, &marks[WHAT_IF_JOBS], 1, true);
    what_if_tell(&what_if, RATE, 2000000000, stats);
    assert_int_equal(count_of(STATS_WHAT_IF_DID), WHAT_IF_JOBS);
    assert_true(mean_of(STATS_WHAT_IF_DID) < WHAT_IF_JOBS * 1000);
}

TEST(without_a_rate_or_memory_nothing_is_told)
{
    what_if_tick(&what_if, 0);
    what_if_note(&what_if, &marks[0], 1000, 0, true);
    what_if_tell(&what_if, 0, 2000000000, stats);
    what_if.ticks = 0;
    what_if_tick(&what_if, 0);
    what_if_note(&what_if, &marks[0], 1000, 0, true);
    allocations_left = 0;
    what_if_tell(&what_if, RATE, 2000000000, stats);
    allocations_left = -1;
    assert_int_equal(count_of(STATS_WHAT_IF_DID), 0);
    what_if_fini(&what_if);
    assert_false(what_if_tick(&what_if, 0));
    for (long left = 0; left < 2; left++) {
        allocations_left = left;
        assert_int_equal(what_if_init(&what_if), -ENOMEM);
        allocations_left = -1;
        what_if_fini(&what_if);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
