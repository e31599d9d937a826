/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=ioctl,--wrap=clock_gettime */
#include "unit/engine/link/link_kernel.h"

#include "engine/link/link_priv.h"

/* --- Whose bytes count --------------------------------------------------- */

TEST(flows_ahead_that_fill_the_limit_hold)
{
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

TEST(no_less_than_a_segment_is_let_through)
{
    hand(0, limit() - 1, 10);
    assert_int_equal(allow(1, 20, 1 << 20), LINK_SEGMENT_BYTES);
    assert_int_equal(allow(1, 20, 100), 100);
}

TEST(a_short_one_is_not_refused_for_a_long_ones_bytes)
{
    hand(0, 1 << 20, 1000);
    assert_int_equal(allow(1, 1000, 5000), 0);
    assert_int_equal(allow(1, 999, 5000), 5000);
    hand(1, 60000, 999);
    assert_int_equal(allow(2, 998, 5000), 5000);
    hand(2, 60000, 0); /* handed over entirely: ahead of everybody */
    assert_int_equal(allow(3, 1, 50000), limit() - 60000);
}

TEST(who_is_not_next_sends_only_to_keep_the_link_busy)
{
    link_publish(&links[1], 3);
    assert_int_equal(allow(0, 5, 1000), 1000);
    hand(0, limit() / 2, 5);
    assert_int_equal(allow(1, 5, 1000), 0);
    assert_int_equal(allow(1, 2, 1000), 1000);
    link_publish(&links[1], UINT64_MAX);
    assert_int_equal(allow(1, 5, 1000), 1000);
}

TEST(what_others_have_in_the_kernel_counts)
{
    hand(0, limit(), 5);
    pass_ns(MS_NS);
    assert_int_equal(allow(0, 5, 1), 0); /* has looked */
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 0);
    link_drop(&links[0], &flows[0]);
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 1000);
}

TEST(what_others_said_counts_only_while_it_is_fresh)
{
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
TEST(what_others_saw_a_moment_later_counts)
{
    pass_ns(MS_NS);
    hand(0, limit(), 5);
    assert_int_equal(allow(0, 5, 1), 0);
    link_publish(&links[0], UINT64_MAX);
    clock_ns -= 50;
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 0);
}

/* --- Where the limit goes ------------------------------------------------ */

TEST(the_limit_grows_when_the_queue_is_found_empty)
{
    uint64_t before = limit();

    tick_with(0);
    assert_int_equal(limit(), before + before / 4);
}

TEST(the_limit_grows_a_little_when_the_queue_is_short)
{
    uint64_t before = limit();

    tick_with((uint32_t)before / 8 - 1);
    assert_int_equal(limit(), before + before / 12);
}

TEST(the_limit_stays_in_between)
{
    uint64_t before = limit();

    tick_with((uint32_t)before / 8);
    assert_int_equal(limit(), before);
    tick_with((uint32_t)before / 2);
    assert_int_equal(limit(), before);
}

TEST(the_limit_shrinks_when_more_than_half_is_there)
{
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

TEST(the_limit_stays_when_nothing_was_held)
{
    hand(0, 10, 5);
    calls = 0;
    link_tick(&links[0]);
    assert_int_equal(limit(), LINK_LIMIT_START);
    assert_int_equal(looks_local, 0);
}

TEST(the_limit_moves_once_in_a_tick_for_all_workers)
{
    uint64_t before = limit();

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

/* --- A worker that does not look ----------------------------------------- */

/* The other worker hands bytes over, and so many of them stay in the kernel. */
static void hand_elsewhere(int number, uint32_t bytes, uint32_t stay)
{
    in_kernel[number] = stay;
    link_handed(&links[1], &flows[number], bytes, 0, clock_ns / MS_NS);
    link_publish(&links[1], UINT64_MAX);
}

TEST(the_limit_does_not_grow_while_another_has_a_queue)
{
    uint64_t before = limit();

    hand_elsewhere(1, LINK_LIMIT_START / 4, LINK_LIMIT_START / 4);
    pass_ns(20 * MS_NS);
    tick_with(0);
    assert_int_equal(limit(), before);
    in_kernel[1] = 0;
    tick_with(0);
    assert_int_equal(limit(), before + before / 4);
}

/* As in a queue that serves flows in turns. */
TEST(nor_while_it_has_one_of_what_was_not_the_last)
{
    uint64_t before = limit();

    hand_elsewhere(1, LINK_LIMIT_START / 4, LINK_LIMIT_START / 4);
    hand_elsewhere(3, 100, 0);
    pass_ns(20 * MS_NS);
    tick_with(0);
    assert_int_equal(limit(), before);
}

static unsigned count_looks_of_tick(void)
{
    looks_local = 0;
    tick_with(0);
    return looks_local;
}

TEST(what_was_found_to_be_gone_is_looked_at_once)
{
    unsigned own;

    count_looks_of_tick();
    own = count_looks_of_tick();
    hand_elsewhere(1, 1000, 0);
    assert_int_equal(count_looks_of_tick(), own + 1);
    assert_int_equal(count_looks_of_tick(), own);
    hand_elsewhere(1, 1000, 1000);
    assert_int_equal(count_looks_of_tick(), own + 1);
    assert_int_equal(count_looks_of_tick(), own + 1);
}

/* --- A fast link --------------------------------------------------------- */

static bool is_held[WORKERS];

/* A turn of each worker, with a tick where something is held. What it hands over
 * leaves at once, or is what in_kernel says. */
static void hand_what_leaves_at_once(void)
{
    for (int i = 0; i < WORKERS; i++) {
        pass_ns(LINK_TICK_NS / WORKERS);
        if (is_held[i])
            link_tick(&links[i]);
        is_held[i] = false;
        for (int at = i; at < FLOWS; at += WORKERS) {
            uint64_t room = link_allow(&links[i], &flows[at], 5, 65536);

            is_held[i] |= room == 0;
            link_handed(&links[i], &flows[at], room, 5, clock_ns / MS_NS);
        }
        link_publish(&links[i], 5);
    }
}

static int count_engaged(void)
{
    int engaged = 0;

    for (int i = 0; i < WORKERS; i++)
        engaged += links[i].is_local;
    return engaged;
}

TEST(what_others_have_just_handed_over_is_no_queue)
{
    begin(LINK_AUTO, 0, WORKERS);
    assert_int_equal(count_engaged(), WORKERS);
    for (int ticks = 0; ticks < 100; ticks++)
        hand_what_leaves_at_once();
    assert_int_equal(count_engaged(), 0);
}

/* One of them has a look that finds something, again and again. */
TEST(what_others_have_handed_over_counts_where_a_queue_is_found)
{
    uint64_t begin_limit = limit();

    begin(LINK_AUTO, 0, WORKERS);
    for (int ticks = 0; ticks < 100; ticks++) {
        in_kernel[0] = 20000;
        hand_what_leaves_at_once();
    }
    assert_int_equal(count_engaged(), WORKERS);
    assert_true(limit() <= begin_limit);
}

/* So much in all, by flows that are never held. */
static void hand_unheld(uint64_t bytes)
{
    for (uint64_t sent = 0; sent < bytes; sent += 16384) {
        assert_int_equal(allow(0, 5, 16384), 16384);
        link_handed(&links[0], &flows[0], 16384, 6, clock_ns / MS_NS);
        pass_ns(MS_NS);
    }
}

TEST(a_limit_that_never_holds_is_given_up)
{
    begin(LINK_AUTO, 0, 1);
    hand_unheld(32 * LINK_UNHELD_BYTES);
    assert_false(links[0].is_local);
    assert_int_equal(links[0].counters.held, 0);
}

TEST(a_limit_that_never_holds_stays_when_a_queue_is_found)
{
    begin(LINK_AUTO, 0, 1);
    in_kernel[0] = LINK_LIMIT_START / 8;
    hand_unheld(32 * LINK_UNHELD_BYTES);
    assert_true(links[0].is_local);
    assert_int_equal(limit(), LINK_LIMIT_START);
}

TEST(a_limit_that_never_holds_stays_while_a_pace_is_known)
{
    begin(LINK_AUTO, 0, 1);
    atomic_store(&shared.pacer, 1000000000);
    hand_unheld(32 * LINK_UNHELD_BYTES);
    assert_true(links[0].is_local);
    assert_int_equal(limit(), LINK_LIMIT_START);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
