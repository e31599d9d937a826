#include "suite.h"
#include "unit/draw.h"
#include "unit/engine/sched_fixture.h"

/* --- srpt's bound -------------------------------------------------------- */

/* One large response waits; small ones come in bursts, as many as can pass it.
 * Returns the bytes of those that did. */
static uint64_t flood(uint64_t bound, uint64_t bytes, uint64_t small,
                      int in_burst)
{
    uint64_t passed = 0;

    use(SCHED_POLICY_SRPT, bound);
    arrive(0, bytes);
    for (;;) {
        for (int i = 1; i <= in_burst; i++)
            arrive(i, small);
        for (int i = 1; i <= in_burst; i++) {
            if (take() == 0)
                return passed;
            passed += small;
            if (passed > 1000 * bytes)
                return UINT64_MAX;
        }
    }
}

TEST(a_flood_of_small_ones_passes_only_so_much)
{
    static const uint64_t bounds[] = {1, 2, 5, 64, 256};

    for (int i = 0; i < 5; i++) {
        for (int burst = 1; burst < ITEMS; burst += 19) {
            const uint64_t b = 1000000;
            uint64_t k = bounds[i];
            uint64_t passed = flood(k, b, 100, burst);

            assert_true(passed < (k + 1) * b);
            /* What came with the large one counts as its own: K - 1. */
            assert_in_range(passed, (k - 1) * b * 99 / 100, (k - 1) * b);
        }
    }
}

TEST(without_a_bound_a_flood_passes_for_ever)
{
    assert_true(flood(0, 10000, 100, 7) == UINT64_MAX);
}

TEST(a_shorter_one_passes_in_spite_of_the_bound)
{
    static const int order[] = {1, 2, 0};

    use(SCHED_POLICY_SRPT, 256);
    arrive(0, 100000);
    arrive(1, 10);
    arrive(2, 1000);
    assert_order(order, 3);
}

/* Bytes left, and of whom came later, bytes that were sent while it waited. */
static struct {
    uint64_t bytes;
    uint64_t left;
    uint64_t passed;
    uint64_t number;
    bool is_away; /* its client takes nothing for now */
} jobs[ITEMS];

static void send_and_count(int at, uint64_t quantum)
{
    uint64_t sent = jobs[at].left < quantum ? jobs[at].left : quantum;

    jobs[at].left -= sent;
    for (int i = 0; i < ITEMS; i++)
        if (jobs[i].left > 0 && !jobs[i].is_away &&
            jobs[i].number < jobs[at].number)
            jobs[i].passed += sent;
}

static void serve_and_count(uint64_t quantum)
{
    int at = take();

    if (at < 0)
        return;
    send_and_count(at, quantum);
    jobs[at].is_away = draw(4) == 0;
    if (jobs[at].left > 0 && !jobs[at].is_away)
        sched_put(&sched, &items[at], jobs[at].left);
}

/* What is short and the very next does not go through the queue. */
static void arrive_and_count(int at, uint64_t bytes, uint64_t number,
                             uint64_t quantum)
{
    memset(&jobs[at], 0, sizeof(jobs[at]));
    jobs[at].bytes = jobs[at].left = bytes;
    jobs[at].number = number;
    sched_arrive(&sched, &items[at], 1, bytes, false);
    if (bytes <= quantum && goes_first(at, bytes))
        send_and_count(at, quantum);
    else
        sched_put(&sched, &items[at], bytes);
}

TEST(nothing_is_ever_passed_by_more_than_the_bound)
{
    static const uint64_t bounds[] = {1, 2, 8, 100};

    draw_seed = 1968;
    for (int run = 0; run < 40; run++) {
        uint64_t k = bounds[run % 4];
        uint64_t quantum = 1 + draw(3000);

        use(SCHED_POLICY_SRPT, k);
        memset(jobs, 0, sizeof(jobs));
        for (uint64_t step = 1; step < 5000; step++) {
            int at = (int)draw(ITEMS);

            if (jobs[at].left == 0 && draw(2) == 0) {
                arrive_and_count(at, 1 + draw(1u << draw(17)), step, quantum);
            } else if (jobs[at].left > 0 && jobs[at].is_away) {
                jobs[at].is_away = false;
                sched_put(&sched, &items[at], jobs[at].left);
            } else {
                serve_and_count(quantum);
            }
            for (int i = 0; i < ITEMS; i++)
                assert_true(jobs[i].bytes == 0 ||
                            jobs[i].passed < (k + 1) * jobs[i].bytes);
        }
    }
}

TEST(immense_responses_do_not_overflow_the_key)
{
    static const int order[] = {1, 3, 0, 2};

    use(SCHED_POLICY_SRPT, 1 << 20);
    arrive(0, UINT64_MAX / 2);
    sched_drop(&sched, &items[0]);
    sched_put(&sched, &items[0], UINT64_MAX / 2);
    arrive(1, 1000);
    arrive(2, UINT64_MAX / 4);
    arrive(3, 10);
    assert_order(order, 4);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
