/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=ioctl,--wrap=clock_gettime */
#include "link_path.h"

#include "engine/link/link_priv.h"

enum { UNUSED_S = 30, PERIOD_S = 60 };

/* What the window lets be under way on a path of 10 ms. */
static uint64_t width(void)
{
    return atomic_load(&shared.window) / 100;
}

static void set_width(uint64_t bytes)
{
    atomic_store(&shared.window, bytes * 100);
}

/* What flow's acknowledgements tell. */
static void tell(int number, uint32_t rtt_us, uint32_t segments)
{
    info[number] = (struct tcp_info){.tcpi_rtt = rtt_us,
                                     .tcpi_snd_mss = LINK_SEGMENT_BYTES,
                                     .tcpi_unacked = segments};
}

/* Sends until it is looked at; at once no delay is seen, its client's least
 * round trip being known from before. */
static void probe(int number, uint32_t rtt_us, uint32_t segments)
{
    unsigned before = looks_remote;

    tell(number, rtt_us, segments);
    for (int i = 0; looks_remote == before; i++) {
        assert_in_range(i, 0, 100000);
        link_handed(&links[0], &flows[number], LINK_PROBE_BYTES, 5,
                    clock_ns / MS_NS);
    }
}

static void become_fast_with(size_t workers)
{
    begin(LINK_AUTO, 0, workers);
    for (size_t i = 0; i < workers; i++)
        become_fast(&links[i], (int)i);
    memset(in_kernel, 0, sizeof(in_kernel));
    for (int i = 0; i < FLOWS; i += (int)workers)
        probe(i, 10000, 10);
    assert_int_equal(width(), 0);
}

static void put_up_window(void)
{
    probe(0, 40000, 10);
    probe(0, 40000, 10);
    assert_true(width() > 0);
    tell(0, 10000, 0);
}

/* --- Up ------------------------------------------------------------------ */

TEST(delayed_flows_in_a_row_put_the_window_up)
{
    become_fast_with(2);
    probe(2, 40000, 10);
    assert_int_equal(width(), 0);
    probe(4, 40000, 10);
    assert_true(width() > 0);
    assert_false(links[0].is_local);
}

TEST(one_that_is_not_delayed_between_them_keeps_it_down)
{
    become_fast_with(2);
    for (int i = 0; i < 10; i++) {
        probe(2, 40000, 10);
        probe(4, 10000, 10);
    }
    assert_int_equal(width(), 0);
}

TEST(flows_delayed_by_different_times_keep_it_down)
{
    become_fast_with(2);
    for (int i = 0; i < 10; i++) {
        probe(2, 20000, 10);
        probe(4, 100000, 10);
    }
    assert_int_equal(width(), 0);
}

TEST(small_delays_and_few_segments_keep_it_down)
{
    become_fast_with(2);
    for (int i = 0; i < 10; i++) {
        probe(2, 13999, 10);
        probe(2, 100000, 3); /* may wait for more to acknowledge */
    }
    assert_int_equal(width(), 0);
    probe(2, 14000, 4);
    probe(2, 14000, 4);
    assert_true(width() > 0);
}

/* The next probe by bytes is a MiB away; that is a tenth of a second here. */
TEST(on_a_narrow_link_delays_are_found_by_the_clock)
{
    become_fast_with(2);
    while (links[0].probe_bytes < LINK_PROBE_BYTES_MAX)
        probe(2, 10000, 10);
    probe(2, 10000, 10);
    tell(2, 40000, 10);
    for (int i = 0; width() == 0; i++) {
        assert_in_range(i, 0, 6);
        link_handed(&links[0], &flows[2], 40000, 5, clock_ns / MS_NS);
        pass_ns(4 * MS_NS);
    }
}

/* --- What is known of a path --------------------------------------------- */

TEST(the_least_round_trip_is_kept_by_client)
{
    become_fast_with(2);
    open_flow(&links[0], 31); /* a client further away */
    probe(31, 60000, 10);
    probe(31, 60000, 10);
    probe(31, 61000, 10);
    assert_int_equal(width(), 0);
    open_flow(&links[0], 2); /* one that is known */
    probe(2, 60000, 10);
    probe(2, 60000, 10);
    assert_true(width() > 0);
}

TEST(the_least_round_trip_is_forgotten_after_the_period)
{
    become_fast_with(2);
    pass_ns((PERIOD_S + 1) * S_NS);
    probe(2, 60000, 10); /* known from the period before */
    assert_int_equal(links[0].delayed, 1);
    pass_ns((PERIOD_S + 1) * S_NS);
    probe(2, 60000, 10); /* the path has become that long */
    probe(2, 60000, 10);
    assert_int_equal(links[0].delayed, 0);
    pass_ns((2 * PERIOD_S + 1) * S_NS);
    probe(4, 60000, 10); /* nothing was seen of it since */
    assert_int_equal(links[0].delayed, 0);
    assert_int_equal(width(), 0);
}

/* --- What counts against it ---------------------------------------------- */

/* Some time later, so that it looks. */
static uint64_t allow_later(int number, uint64_t key, uint64_t want)
{
    pass_ns(10 * MS_NS);
    return link_allow(&links[number % 2], &flows[number], key, want);
}

TEST(what_is_not_acknowledged_counts_in_order)
{
    become_fast_with(2);
    put_up_window();
    tell(0, 10000, 0);
    link_handed(&links[0], &flows[2], 1 << 24, 100, clock_ns / MS_NS);
    tell(2, 10000, 10000);
    assert_int_equal(allow_later(4, 100, 5000), 0);
    assert_int_equal(allow_later(4, 99, 5000), 5000);
    tell(2, 10000, 10);
    assert_int_equal(allow_later(4, 100, 5000), 5000);
    link_drop(&links[0], &flows[2]);
    assert_int_equal(links[0].flight, 0);
}

TEST(stalled_flows_do_not_count)
{
    become_fast_with(2);
    put_up_window();
    link_handed(&links[0], &flows[2], 1 << 24, 5, clock_ns / MS_NS);
    tell(2, 10000, 10000);
    info[2].tcpi_last_ack_recv = info[2].tcpi_last_data_sent = 100;
    assert_int_equal(allow_later(4, 5, 5000), 0);
    info[2].tcpi_last_ack_recv = 101; /* only just asked */
    assert_int_equal(allow_later(4, 5, 5000), 0);
    info[2].tcpi_last_data_sent = 101;
    assert_int_equal(allow_later(4, 5, 5000), 5000);
}

TEST(what_is_lost_or_received_out_of_order_does_not_count)
{
    become_fast_with(2);
    put_up_window();
    link_handed(&links[0], &flows[2], 1 << 24, 5, clock_ns / MS_NS);
    tell(2, 10000, 100);
    info[2].tcpi_sacked = 60;
    info[2].tcpi_lost = 30;
    info[2].tcpi_retrans = 20;
    assert_true(allow_later(4, 5, 1) > 0);
    assert_int_equal(links[0].flight, 30 * LINK_SEGMENT_BYTES);
    info[2].tcpi_lost = 1000;
    assert_true(allow_later(4, 5, 1) > 0);
    assert_int_equal(links[0].flight, 0);
}

TEST(what_others_have_under_way_counts_while_it_is_fresh)
{
    become_fast_with(2);
    put_up_window();
    tell(0, 10000, 0);
    tell(2, 10000, 10000);
    link_handed(&links[0], &flows[2], 1 << 24, 5, clock_ns / MS_NS);
    assert_int_equal(allow_later(4, 5, 1), 0);
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(allow_later(1, 6, 5000), 0);
    pass_ns(LINK_FLIGHT_FRESH_NS); /* that worker has nothing to do any more */
    assert_int_equal(allow_later(1, 6, 5000), 5000);
}

TEST(a_flow_that_ends_takes_its_queue_along)
{
    become_fast_with(2);
    put_up_window();
    link_handed(&links[0], &flows[2], 1 << 20, 5, clock_ns / MS_NS);
    tell(2, 100000, 100);
    assert_true(allow_later(4, 4, 1) > 0);
    assert_true(links[0].standing > 100 * LINK_SEGMENT_BYTES / 2);
    link_drop(&links[0], &flows[2]);
    assert_true(links[0].standing <= links[0].flight);
}

/* --- Its width ----------------------------------------------------------- */

/* All was acknowledged long before it was looked at: nothing was on its way
 * while something waited here. */
TEST(a_path_that_runs_empty_gets_a_wider_window)
{
    become_fast_with(2);
    put_up_window();
    set_width(16384);
    tell(2, 10000, 0);
    for (int i = 0; width() < 1048576; i++) {
        assert_in_range(i, 0, 100);
        assert_true(allow_later(4, 5, 1000) > 0);
        link_handed(&links[0], &flows[2], 1 << 21, 5, clock_ns / MS_NS);
        assert_int_equal(allow(4, 5, 1000), 0);
    }
}

/* A client that waits for its CPU acknowledges late, and then all at once. */
TEST(a_delay_of_a_moment_does_not_narrow_it)
{
    uint64_t before;

    become_fast_with(2);
    put_up_window();
    before = width();
    link_handed(&links[0], &flows[2], 1 << 20, 5, clock_ns / MS_NS);
    tell(2, 1000000, 1000);
    for (int i = 0; i < 3; i++)
        allow_later(4, 5, 1000);
    assert_true(width() > before / 2);
    for (int i = 0; i < 50; i++) /* it is moved by round trips */
        allow_later(4, 5, 1000);
    assert_true(width() < before / 8);
}

/* Round trips are averages: they tell of a queue that is nearly gone. */
TEST(one_long_queue_narrows_it_once)
{
    uint64_t narrowed;

    become_fast_with(2);
    put_up_window();
    link_handed(&links[0], &flows[2], 1 << 20, 5, clock_ns / MS_NS);
    tell(2, 100000, 1000);
    for (int i = 0; width() > 1 << 18; i++) {
        assert_in_range(i, 0, 10);
        allow_later(4, 5, 1000);
    }
    narrowed = width();
    tell(2, 100000, 500);
    for (int i = 0; i < 4; i++)
        allow_later(4, 5, 1000);
    assert_true(width() > narrowed * 3 / 4);
    for (int i = 0; i < 4; i++) /* it has not gone */
        allow_later(4, 5, 1000);
    assert_true(width() < narrowed * 5 / 8);
}

TEST(clients_on_this_machine_have_no_window)
{
    struct address here = {.family = ADDRESS_IPV4, .octets = {127, 0, 0, 1}};

    become_fast_with(2);
    link_open(&links[0], &flows[6], FD_BASE + 6, &here);
    tell(6, 10000, 10);
    for (int i = 0; i < 100; i++) {
        tell(6, 10000 + 90000 * (uint32_t)(i > 10), 10);
        link_handed(&links[0], &flows[6], 1 << 20, 5, clock_ns / MS_NS);
        pass_ns(10 * MS_NS);
    }
    assert_int_equal(width(), 0);
    put_up_window();
    link_handed(&links[0], &flows[2], 1 << 24, 1, clock_ns / MS_NS);
    tell(2, 10000, 10000);
    assert_int_equal(allow_later(4, 5, 1000), 0);
    assert_int_equal(allow_later(6, 5, 1 << 20), 1 << 20);
    assert_int_equal(unsent_max[6], 0);
}

/* --- Down ---------------------------------------------------------------- */

TEST(a_window_that_is_not_in_the_way_is_taken_down)
{
    become_fast_with(2);
    put_up_window();
    tell(0, 10000, 1);
    for (int s = 1; s < UNUSED_S; s++) {
        pass_ns(S_NS);
        assert_true(allow(0, 5, 1000) > 0);
        assert_true(width() > 0);
    }
    pass_ns(2 * S_NS);
    assert_true(allow(0, 5, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(width(), 0);
    assert_int_equal(links[0].flight, 0);
    assert_false(link_watches(&links[0], &flows[0]));
    assert_true(allow(0, 5, UINT64_MAX) == UINT64_MAX);
    assert_int_equal(unsent_max[0], 0);
}

/* One worker is held by it, the other never was. */
TEST(a_window_that_is_in_anothers_way_stays)
{
    become_fast_with(2);
    put_up_window();
    tell(2, 100000, 10000);
    for (int i = 0; i < 100 * UNUSED_S; i++) {
        link_handed(&links[0], &flows[2], 1000, 1, clock_ns / MS_NS);
        assert_int_equal(allow_later(4, 5, 1000), 0);
    }
    assert_true(allow_later(1, 0, 1000) > 0);
    assert_true(width() > 0);
}

/* Workers read their clocks, and move it, at different times. */
TEST(a_worker_that_comes_late_does_not_take_it_down)
{
    become_fast_with(2);
    put_up_window();
    tell(2, 100000, 10000);
    link_handed(&links[0], &flows[2], 1000, 1, clock_ns / MS_NS);
    assert_int_equal(allow_later(4, 5, 1000), 0);
    assert_int_equal(allow_later(4, 5, 1000), 0);
    clock_ns -= 10 * MS_NS + 50;
    assert_true(allow_later(1, 5, 1000) > 0);
    assert_true(width() > 0);
}

/* The other was held by it, and looks only then. */
TEST(a_window_that_another_takes_down_stays_down)
{
    become_fast_with(2);
    put_up_window();
    link_handed(&links[0], &flows[2], 1 << 24, 5, clock_ns / MS_NS);
    tell(2, 10000, 10000);
    assert_int_equal(allow_later(4, 5, 1000), 0);
    set_width(0);
    pass_ns(10 * MS_NS);
    link_tick(&links[0]);
    assert_int_equal(width(), 0);
}

/* --- A narrow place far away ---------------------------------------------- */

/* The share of its rate that is used for some seconds, after some. */
static double measure_use(void)
{
    uint64_t before;

    pass_path(15 * S_NS);
    assert_true(width() > 0);
    before = arrived;
    queue_sum_ns = queue_steps = 0;
    pass_path(12 * S_NS);
    return (double)(arrived - before) / 12 / (double)path_rate;
}

/* In bytes, on average. */
static uint64_t queue_length(void)
{
    return queue_sum_ns / queue_steps * (path_rate / 1000000) / 1000;
}

TEST(a_short_queue_stands_there_and_keeps_it_busy)
{
    static const uint64_t rates[] = {2000000, 10000000};
    static const uint64_t sizes[] = {100000, 10000000, 1000000000};

    for (int i = 0; i < 2 * 3; i++)
        for (size_t workers = 1; workers <= WORKERS; workers *= 2) {
            uint64_t target;

            begin_path(workers, 4 * workers + 4, rates[i / 3], 20, 20,
                       sizes[i % 3]);
            assert_true(measure_use() >= 0.97);
            target = 6144 + 2 * width() / 32;
            assert_in_range(queue_length(), target / 2, target * 7);
        }
}

/* At any time those that have the fewest bytes left send, be they near or far,
 * and fill a path of 4 or one of 60 ms. */
TEST(near_and_far_clients_use_it_up)
{
    static const uint64_t sizes[] = {100000, 10000000, 1000000000};

    for (int i = 0; i < 3; i++)
        for (size_t workers = 1; workers <= WORKERS; workers *= 2) {
            begin_path(workers, 8 * workers, 10000000, 4, 60, sizes[i]);
            assert_true(measure_use() >= 0.9);
            assert_true(queue_length() < 200000);
        }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
