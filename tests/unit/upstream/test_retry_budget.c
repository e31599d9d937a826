#include "upstream/retry_budget.h"

#include "suite.h"
#include "unit/draw.h"

#define START_MS UINT64_C(1000000)

static struct retry_budget budget;

static int empty(void **state)
{
    (void)state;
    budget = (struct retry_budget){0};
    return 0;
}

static void note(unsigned requests, uint64_t now_ms)
{
    for (unsigned i = 0; i < requests; i++)
        retry_budget_note_request(&budget, now_ms);
}

/* All that are left. */
static unsigned take_all(uint64_t now_ms)
{
    unsigned taken = 0;

    while (retry_budget_take(&budget, now_ms))
        taken++;
    return taken;
}

TEST(three_are_free)
{
    assert_int_equal(take_all(START_MS), 3);
    note(4, START_MS);
    assert_int_equal(take_all(START_MS), 0);
}

TEST(a_fifth_of_the_requests_may_be_retried)
{
    note(100, START_MS);
    assert_int_equal(take_all(START_MS), 20 + 3);
    note(5, START_MS + 999);
    assert_int_equal(take_all(START_MS + 999), 1);
}

TEST(requests_count_for_ten_seconds)
{
    note(50, START_MS);
    note(50, START_MS + 5000);
    assert_int_equal(take_all(START_MS + 9999), 23);
    /* The first fifty are forgotten, what was taken is not. */
    assert_int_equal(take_all(START_MS + 10000), 0);
    note(100, START_MS + 10000);
    assert_int_equal(take_all(START_MS + 10000), 150 / 5 + 3 - 23);
}

TEST(retries_count_for_ten_seconds)
{
    assert_int_equal(take_all(START_MS), 3);
    assert_int_equal(take_all(START_MS + 9999), 0);
    assert_int_equal(take_all(START_MS + 10000), 3);
}

TEST(a_long_silence_forgets_all)
{
    note(1000, START_MS);
    assert_int_equal(take_all(START_MS + (UINT64_C(1) << 40)), 3);
}

/* --- Against a list of all that happened ---------------------------------- */

enum { STEPS = 20000 };

struct event {
    uint64_t second;
    bool is_retry;
};

TEST(it_does_as_a_list_of_events_would)
{
    static struct event events[STEPS];
    uint64_t now_ms = START_MS;
    size_t first = 0;

    draw_seed = 42;
    for (size_t i = 0; i < STEPS; i++) {
        uint64_t second;
        unsigned requests = 0;
        unsigned retries = 0;
        bool taken;

        now_ms += draw(100) < 99 ? draw(200) : draw(20000);
        second = now_ms / 1000;
        while (events[first].second + 10 <= second && first < i)
            first++;
        for (size_t e = first; e < i; e++) {
            retries += events[e].is_retry;
            requests += events[e].second != 0 && !events[e].is_retry;
        }
        if (draw(3) > 0) {
            retry_budget_note_request(&budget, now_ms);
            events[i] = (struct event){second, false};
            continue;
        }
        taken = retry_budget_take(&budget, now_ms);
        assert_int_equal(taken, retries < requests / 5 + 3);
        /* One that was refused is no event. */
        events[i] = (struct event){taken ? second : 0, taken};
    }
}

SUITE(.each_begin = empty);
