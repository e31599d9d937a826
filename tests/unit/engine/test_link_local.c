/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=clock_gettime */
#include "link_kernel.h"

#include "engine/link_priv.h"

/* --- Whose bytes count ----------------------------------------------------- */

static void flows_ahead_that_fill_the_limit_hold(void **state)
{
    (void)state;
    assert_int_equal(allow(0, 10, 1 << 20), limit());
    hand(0, limit() - 20000, 10);
    assert_int_equal(allow(1, 20, 1 << 20), 20000);
    assert_int_equal(allow(1, 20, 7), 7);
    hand(1, 20000, 20);
    assert_int_equal(allow(2, 20, 1), 0);
    assert_int_equal(allow(0, 20, 1), 0); /* its own count too */
    pass_ns(MS_NS);
    assert_int_equal(allow(2, 20, 1), 0); /* they are still there */
    in_kernel[0] -= 5000;
    pass_ns(MS_NS);
    assert_int_equal(allow(2, 20, 1 << 20), 5000);
    assert_int_equal(links[0].counters.held, 3);
}

static void no_less_than_a_segment_is_let_through(void **state)
{
    (void)state;
    hand(0, limit() - 1, 10);
    assert_int_equal(allow(1, 20, 1 << 20), LINK_SEGMENT_BYTES);
    assert_int_equal(allow(1, 20, 100), 100);
}

static void a_short_one_is_not_refused_for_a_long_ones_bytes(void **state)
{
    (void)state;
    hand(0, 1 << 20, 1000);
    assert_int_equal(allow(1, 1000, 5000), 0);
    assert_int_equal(allow(1, 999, 5000), 5000);
    hand(1, 60000, 999);
    assert_int_equal(allow(2, 998, 5000), 5000);
    hand(2, 60000, 0); /* handed over entirely: ahead of everybody */
    assert_int_equal(allow(3, 1, 50000), limit() - 60000);
}

static void who_is_not_next_sends_only_to_keep_the_link_busy(void **state)
{
    (void)state;
    link_publish(&links[1], 3);
    assert_int_equal(allow(0, 5, 1000), 1000);
    hand(0, limit() / 2, 5);
    assert_int_equal(allow(1, 5, 1000), 0);
    assert_int_equal(allow(1, 2, 1000), 1000);
    link_publish(&links[1], UINT64_MAX);
    assert_int_equal(allow(1, 5, 1000), 1000);
}

static void what_others_have_in_the_kernel_counts(void **state)
{
    (void)state;
    hand(0, limit(), 5);
    pass_ns(MS_NS);
    assert_int_equal(allow(0, 5, 1), 0); /* has looked */
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 0);
    link_drop(&links[0], &flows[0]);
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 1000);
}

static void what_others_said_counts_only_while_it_is_fresh(void **state)
{
    (void)state;
    hand(0, limit(), 5);
    pass_ns(MS_NS);
    assert_int_equal(allow(0, 5, 1), 0);
    link_publish(&links[0], UINT64_MAX);
    pass_ns(LINK_FRESH_NS - 1);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 0);
    pass_ns(1);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 1000);
}

/* Workers read their clocks at different times. */
static void what_others_saw_a_moment_later_counts(void **state)
{
    (void)state;
    pass_ns(MS_NS);
    hand(0, limit(), 5);
    assert_int_equal(allow(0, 5, 1), 0);
    link_publish(&links[0], UINT64_MAX);
    clock_ns -= 50;
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 0);
}

/* --- Where the limit goes ---------------------------------------------------- */

static void the_limit_grows_when_the_queue_is_found_empty(void **state)
{
    uint64_t before = limit();

    (void)state;
    tick_with(0);
    assert_int_equal(limit(), before + before / 4);
}

static void the_limit_grows_a_little_when_the_queue_is_short(void **state)
{
    uint64_t before = limit();

    (void)state;
    tick_with((uint32_t)before / 8 - 1);
    assert_int_equal(limit(), before + before / 12);
}

static void the_limit_stays_in_between(void **state)
{
    uint64_t before = limit();

    (void)state;
    tick_with((uint32_t)before / 8);
    assert_int_equal(limit(), before);
    tick_with((uint32_t)before / 2);
    assert_int_equal(limit(), before);
}

static void the_limit_shrinks_when_more_than_half_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) { /* fewer than tell the pace */
        uint64_t before = limit();

        tick_with((uint32_t)(before / 2 + 1));
        assert_true(limit() < before || before == LINK_LIMIT_MIN);
        assert_true(limit() >= LINK_LIMIT_MIN);
    }
    assert_int_equal(limit(), LINK_LIMIT_MIN);
    tick_with(0);
    assert_true(limit() > LINK_LIMIT_MIN); /* and gets up again */
}

static void the_limit_stays_when_nothing_was_held(void **state)
{
    (void)state;
    hand(0, 10, 5);
    calls = 0;
    link_tick(&links[0]);
    assert_int_equal(limit(), LINK_LIMIT_START);
    assert_int_equal(looks_local, 0);
}

static void the_limit_moves_once_in_a_tick_for_all_workers(void **state)
{
    uint64_t before = limit();

    (void)state;
    for (int i = 0; i < 2; i++) {
        link_handed(&links[i], &flows[i], limit(), 5, clock_ns / MS_NS);
        in_kernel[i] = (uint32_t)limit();
        assert_int_equal(link_allow(&links[i], &flows[i], 5, 1), 0);
    }
    in_kernel[0] = in_kernel[1] = 0;
    pass_ns(LINK_TICK_NS);
    for (int i = 0; i < 2; i++)
        link_tick(&links[i]);
    assert_int_equal(limit(), before + before / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flows_ahead_that_fill_the_limit_hold),
        TEST(no_less_than_a_segment_is_let_through),
        TEST(a_short_one_is_not_refused_for_a_long_ones_bytes),
        TEST(who_is_not_next_sends_only_to_keep_the_link_busy),
        TEST(what_others_have_in_the_kernel_counts),
        TEST(what_others_said_counts_only_while_it_is_fresh),
        TEST(what_others_saw_a_moment_later_counts),
        TEST(the_limit_grows_when_the_queue_is_found_empty),
        TEST(the_limit_grows_a_little_when_the_queue_is_short),
        TEST(the_limit_stays_in_between),
        TEST(the_limit_shrinks_when_more_than_half_is_there),
        TEST(the_limit_stays_when_nothing_was_held),
        TEST(the_limit_moves_once_in_a_tick_for_all_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
