/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=ioctl,--wrap=clock_gettime */
#include "link_path.h"

#include "base/units.h"
#include "engine/link/link_priv.h"

enum { WINDOW_LEAST = 51200 };

/* What flow's acknowledgements tell. */
static void tell(int number, uint32_t rtt_us, uint32_t segments)
{
    info[number] = (struct tcp_info){.tcpi_rtt = rtt_us,
                                     .tcpi_snd_mss = LINK_SEGMENT_BYTES,
                                     .tcpi_unacked = segments};
}

/* A window of so many bytes a second over an idle path of a client's. */
static void begin_idle_path(uint64_t rate, uint32_t rtt_us)
{
    begin(LINK_AUTO, 0, 1);
    become_fast(&links[0], 4);
    in_kernel[4] = 0;
    atomic_store(&shared.windowed_ns, clock_ns);
    atomic_store(&shared.window, rate);
    tell(4, rtt_us, 4);
    link_handed(&links[0], &flows[4], 4 * LINK_SEGMENT_BYTES, 5,
                clock_ns / MS_NS);
    pass_ns(10 * MS_NS);
    assert_true(allow(4, 5, 1) > 0);
    tell(4, rtt_us, 0);
    pass_ns(10 * MS_NS);
    assert_true(allow(4, 5, 1) > 0);
    link_tick(&links[0]);
}

/* All that may leave does, until the window is full: over no stretch of time
 * more than the bucket holds and lets through. Returns how long that takes. */
static uint64_t fill_window(uint32_t rtt_us)
{
    uint64_t begin_ns = clock_ns;
    uint64_t bytes = 0, pacer = 0;

    for (;;) {
        uint64_t room = allow(4, 5, 1 + draw(65536));

        /* The window may get wider meanwhile. */
        if (links[0].window_pacer > pacer)
            pacer = links[0].window_pacer;
        if (links[0].was_windowed)
            return clock_ns - begin_ns;
        if (room == 0) {
            pass_ns(1 + draw(LINK_TICK_NS));
            link_tick(&links[0]);
            continue;
        }
        link_handed(&links[0], &flows[4], room, 5, clock_ns / MS_NS);
        bytes += room;
        tell(4, rtt_us, (uint32_t)(bytes / LINK_SEGMENT_BYTES));
        assert_true((double)bytes <=
                    (double)(link_pacer_burst(&links[0], pacer) +
                             2 * LINK_SEGMENT_BYTES) +
                        (double)pacer * (double)(clock_ns - begin_ns) / 1e9);
    }
}

/* What came for something short meanwhile would wait behind all of it. */
TEST(a_window_is_filled_in_a_round_trip_and_not_at_once)
{
    for (int i = 0; i < 300; i++) {
        uint64_t rate = WINDOW_LEAST + draw(200000u << draw(10));
        uint32_t rtt_us = 1000 + draw(100000);
        uint64_t fill_ns;

        begin_idle_path(rate, rtt_us);
        fill_ns = fill_window(rtt_us);
        assert_true(fill_ns <= rtt_us * UINT64_C(1000) + 2 * LINK_TICK_NS);
        if (rate * rtt_us / US_PER_S >
            4 * link_pacer_burst(&links[0], links[0].window_pacer))
            assert_true(fill_ns >= rtt_us * UINT64_C(1000) / 2);
    }
}

/* Now and then a tick comes late by so much that what the pacer would have let
 * go meanwhile is more than the bucket holds. The window gets wider, as something
 * is held back while no queue stands; and the bucket deeper. */
TEST(a_narrow_place_is_used_though_ticks_come_late)
{
    double used = 0;
    int count = 0;

    for (size_t workers = 1; workers <= WORKERS; workers *= 2)
        for (uint64_t trip_ms = 10; trip_ms <= 40; trip_ms *= 2) {
            begin_path(workers, 4 * workers + 4, 10000000, trip_ms, trip_ms,
                       10000000);
            pass_path(5 * S_NS);
            path_late_ns = 6 * MS_NS;
            pass_path(10 * S_NS);
            arrived = 0;
            pass_path(2 * S_NS);
            used += (double)arrived / 2 / (double)path_rate;
            count++;
        }
    assert_true(used / count > 0.88);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
