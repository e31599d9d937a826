#include "engine/link/link.h"

#include "base/now.h"
#include "suite.h"

enum { RATE = 1000000 };

static struct link_shared shared;
static struct link link_;

static struct link_state look(enum link_mode mode)
{
    struct link_state state;

    assert_int_equal(link_shared_init(&shared, mode, RATE, 1), 0);
    assert_int_equal(link_init(&link_, &shared, 0), 0);
    link_look(&link_, &state);
    return state;
}

static int tear_down(void **state)
{
    (void)state;
    link_fini(&link_);
    link_shared_fini(&shared);
    return 0;
}

TEST(a_link_that_is_off_says_nothing)
{
    struct link_state seen = look(LINK_OFF);

    assert_false(seen.is_engaged);
    assert_int_equal(seen.limit_bytes, 0);
    assert_int_equal(seen.rate, 0);
    assert_int_equal(seen.delay_us, 0);
}

TEST(a_known_rate_is_told_with_what_it_owes)
{
    struct link_state seen = look(LINK_RATE);
    struct link_flow flow;

    assert_true(seen.is_engaged);
    assert_int_equal(seen.rate, RATE / 100 * LINK_RATE_PERCENT);
    assert_int_equal(seen.limit_bytes, LINK_BURST_BYTES);
    link_open(&link_, &flow, -1, &(struct address){.family = ADDRESS_UNIX});
    link_handed(&link_, &flow, 5 * RATE, 0, 0); /* five seconds of it */
    link_look(&link_, &seen);
    assert_in_range(seen.delay_us, 2000000, 6000000);
}

TEST(a_found_pace_is_told_with_the_queue)
{
    struct link_state seen = look(LINK_AUTO);

    assert_true(seen.is_engaged); /* until it is found to be fast */
    assert_int_equal(seen.rate, 0);
    assert_int_equal(seen.limit_bytes, LINK_LIMIT_START);
    assert_int_equal(seen.delay_us, 0); /* not known */
    atomic_store(&shared.pacer, RATE);
    link_.queued = RATE / 100;
    link_look(&link_, &seen);
    assert_int_equal(seen.rate, RATE);
    assert_int_equal(seen.delay_us, 10000);
    link_.queued = 0;
    link_.is_local = false; /* it is fast */
    link_look(&link_, &seen);
    assert_false(seen.is_engaged);
    assert_int_equal(seen.limit_bytes, 0);
}

TEST(a_window_is_told_with_its_rate_and_delay)
{
    struct link_state seen = look(LINK_AUTO);

    atomic_store(&shared.window, 1000000);
    link_.span_us = 50000;
    link_.delay_us = 7000;
    link_look(&link_, &seen);
    assert_true(seen.is_engaged);
    assert_int_equal(seen.limit_bytes, 50000);
    assert_int_equal(seen.rate, 1000000);
    assert_int_equal(seen.delay_us, 7000);
}

/* Late acknowledgements have put a window up; the narrow place is here. */
TEST(a_pace_below_the_window_is_what_is_told)
{
    struct link_state seen = look(LINK_AUTO);

    atomic_store(&shared.pacer, RATE);
    atomic_store(&shared.window, 100 * RATE);
    link_.queued = RATE / 100;
    link_.delay_us = 7000;
    link_look(&link_, &seen);
    assert_int_equal(seen.rate, RATE);
    assert_int_equal(seen.delay_us, 10000);
    atomic_store(&shared.window, RATE / 2);
    link_look(&link_, &seen);
    assert_int_equal(seen.rate, RATE / 2);
    assert_int_equal(seen.delay_us, 7000);
}

SUITE(.each_end = tear_down);
