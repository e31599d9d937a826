/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=ioctl,--wrap=clock_gettime */
#include "unit/engine/link/link_kernel.h"

/* --- off ----------------------------------------------------------------- */

TEST(off_never_holds_nor_calls)
{
    begin(LINK_OFF, 0, 2);
    for (int i = 0; i < 10000; i++) {
        int at = (int)draw(FLOWS);
        uint64_t want = draw_bits() >> draw(60);

        assert_true(allow(at, draw_bits(), want) == want);
        link_handed(&links[0], &flows[at], draw(1 << 20), draw_bits(), 0);
        assert_false(link_watches(&links[0], &flows[at]));
        if (draw(10) == 0)
            link_drop(&links[0], &flows[at]);
        if (draw(10) == 0)
            open_flow(&links[0], at);
    }
    assert_int_equal(calls, 0);
    assert_int_equal(links[0].queued, 0);
    assert_int_equal(links[0].counters.held, 0);
    assert_int_equal(links[0].counters.measured, 0);
}

/* --- What a socket takes ahead -------------------------------------------- */

TEST(a_socket_takes_little_ahead_while_bytes_are_held_back)
{
    assert_true(allow(0, 5, 1) > 0);
    assert_int_equal(unsent_max[0], LINK_UNSENT_MAX);
    unsent_max[0] = -1;
    assert_true(allow(0, 5, 1) > 0);
    assert_int_equal(unsent_max[0], -1); /* told once */
    become_fast(&links[0], 1);
    assert_true(allow(0, 5, 1) > 0);
    assert_int_equal(unsent_max[0], 0); /* as the system has it */
    begin(LINK_RATE, 1000000, 1);
    pass_ns(1000 * (uint64_t)MS_NS); /* opening the flows cost something */
    assert_true(allow(0, 5, 1) > 0);
    assert_int_equal(unsent_max[0], LINK_UNSENT_MAX);
}

/* --- Turns --------------------------------------------------------------- */

TEST(a_turn_is_short_while_bytes_are_held_back)
{
    const uint64_t most = 512 * 1024;

    begin(LINK_OFF, 0, 1);
    assert_int_equal(link_quantum(&links[0], &flows[0], most), most);
    begin(LINK_RATE, 1000000, 1);
    assert_int_equal(link_quantum(&links[0], &flows[0], most),
                     LINK_SEGMENT_BYTES);
    assert_int_equal(link_quantum(&links[0], &flows[0], 1000), 1000);
    begin(LINK_RATE, 100000000, 1);
    assert_int_equal(link_quantum(&links[0], &flows[0], most),
                     97000000 / 10000);
    begin(LINK_AUTO, 0, 1);
    assert_int_equal(link_quantum(&links[0], &flows[0], most),
                     LINK_SEGMENT_BYTES);
    become_fast(&links[0], 1);
    assert_int_equal(link_quantum(&links[0], &flows[0], most), most);
}

/* --- A fast link, and looking whether it still is ------------------------ */

TEST(a_queue_that_is_always_empty_makes_it_fast)
{
    become_fast(&links[0], 0);
    assert_true(limit() > LINK_LIMIT_MAX);
    assert_int_equal(links[0].queued, 0);
    assert_false(link_watches(&links[0], &flows[0]));
    assert_true(allow(2, 5, UINT64_MAX) == UINT64_MAX);
    calls = 0;
    for (int i = 0; i < 10; i++) {
        assert_true(allow(2, 5, UINT64_MAX) == UINT64_MAX);
        link_handed(&links[0], &flows[2], 1000, 5, 0);
    }
    assert_int_equal(calls, 0);
}

/* Bytes are handed over, a few at a time; returns how often it looked. */
static unsigned count_probes(uint64_t bytes)
{
    unsigned before = looks_local;

    for (uint64_t sent = 0; sent < bytes; sent += LINK_PROBE_BYTES / 4) {
        link_handed(&links[0], &flows[0], LINK_PROBE_BYTES / 4, 5,
                    clock_ns / MS_NS);
        pass_ns(MS_NS);
    }
    return looks_local - before;
}

/* Until it has looked at flow 0, and seen bytes. */
static void await_probe(void)
{
    in_kernel[0] = 1;
    for (int i = 0; !links[0].probe; i++) {
        assert_in_range(i, 0, LINK_PROBE_BYTES_REST / LINK_PROBE_BYTES);
        link_handed(&links[0], &flows[0], LINK_PROBE_BYTES, 5,
                    clock_ns / MS_NS);
    }
    assert_true(link_watches(&links[0], &flows[0]));
}

/* A probe finds bytes that still are there when they should be gone. */
static void engage(void)
{
    await_probe();
    pass_ns(LINK_PROBE_MS * MS_NS);
    hand(1, 10, 5);
    assert_true(links[0].is_local);
    in_kernel[0] = in_kernel[1] = 0;
}

TEST(a_queue_that_stands_is_probed_and_engages_again)
{
    become_fast(&links[0], 0);
    await_probe();
    hand(1, 10, 5);
    assert_false(links[0].is_local); /* not yet: it may be on its way */
    pass_ns(LINK_PROBE_MS * MS_NS);
    hand(1, 10, 5);
    assert_true(links[0].is_local);
    assert_int_equal(limit(), LINK_LIMIT_START);
    assert_null(links[0].probe);
}

TEST(bytes_that_are_gone_a_little_later_do_not_engage)
{
    become_fast(&links[0], 0);
    await_probe();
    in_kernel[0] = 0;
    pass_ns(LINK_PROBE_MS * MS_NS);
    hand(1, 10, 5);
    assert_false(links[0].is_local);
    assert_null(links[0].probe);
}

TEST(a_probed_flow_that_ends_is_not_looked_at)
{
    become_fast(&links[0], 0);
    await_probe();
    link_drop(&links[0], &flows[0]);
    assert_false(link_watches(&links[0], &flows[0]));
    calls = 0;
    pass_ns(10 * MS_NS);
    hand(1, 10, 5);
    assert_int_equal(calls, 0);
    assert_false(links[0].is_local);
}

TEST(probes_are_rarer_when_nothing_is_found)
{
    unsigned probes;

    become_fast(&links[0], 0);
    links[0].probe_bytes = LINK_PROBE_BYTES; /* as after a queue was found */
    links[0].probe_bytes_max = LINK_PROBE_BYTES_MAX;
    /* 64 + 128 + 256 + 512 kB, and so on at 1 MB. */
    assert_int_equal(count_probes(LINK_PROBE_BYTES * 15), 4);
    probes = count_probes(LINK_PROBE_BYTES_MAX * 10);
    assert_in_range(probes, 9, 11);
    assert_false(links[0].is_local);
}

TEST(probes_rest_when_what_they_find_is_no_queue)
{
    uint64_t last = 0;

    become_fast(&links[0], 0);
    for (int i = 0; i < 10; i++) { /* on its way, whenever it is looked at */
        assert_true(links[0].probe_bytes >= last);
        assert_true(links[0].probe_bytes <= LINK_PROBE_BYTES_REST);
        last = links[0].probe_bytes;
        engage();
        become_fast(&links[0], 0);
    }
    assert_int_equal(last, LINK_PROBE_BYTES_REST);
    engage(); /* but this time there is one */
    tick_with((uint32_t)limit());
    become_fast(&links[0], 0);
    assert_true(links[0].probe_bytes <= LINK_PROBE_BYTES_MAX);
}

/* --- Bytes are never lost ------------------------------------------------ */

static void assert_sums(const struct link *link, int first)
{
    uint64_t queued = 0;
    uint64_t flight = 0;

    for (int i = first; i < FLOWS; i += 2) {
        assert_true(link_watches(link, &flows[i]) ||
                    (flows[i].queued == 0 && flows[i].flight == 0));
        queued += flows[i].queued;
        flight += flows[i].flight;
    }
    assert_true(link->queued == queued);
    assert_true(link->flight == flight);
    assert_true(link->standing <= flight);
}

/* What a client's acknowledgements tell: nearly anything. */
static void draw_info(int at)
{
    uint32_t least_us = 100 + draw(60000);

    info[at] = (struct tcp_info){
        .tcpi_rtt = draw(9) == 0 ? 0 : least_us + draw(2) * draw(100000),
        .tcpi_min_rtt = draw(9) == 0 ? 0 : least_us,
        .tcpi_snd_mss = 536 + draw(1000),
        .tcpi_unacked = draw(3) == 0 ? 0 : draw(500),
        .tcpi_sacked = draw(9) == 0 ? draw(500) : 0,
        .tcpi_lost = draw(9) == 0 ? draw(500) : 0,
        .tcpi_retrans = draw(9) == 0 ? draw(500) : 0,
        .tcpi_last_ack_recv = draw(200),
        .tcpi_last_data_sent = draw(200),
    };
}

/* Flows of even numbers are one worker's, the others the other's. */
static void do_something(int at)
{
    struct link *link = &links[at % 2];
    uint64_t key = draw(50);

    switch (draw(7)) {
    case 0:
    case 1:
    case 2: {
        uint64_t want = 1 + draw(100000);
        uint64_t room = link_allow(link, &flows[at], key, want);

        assert_true(room <= want);
        if (room == 0)
            break;
        room = draw(4) == 0 ? 0 : 1 + draw((unsigned)room);
        link_handed(link, &flows[at], room, draw(3) == 0 ? 0 : key,
                    clock_ns / MS_NS);
        in_kernel[at] += (uint32_t)room;
        break;
    }
    case 3: /* the wire takes some, in segments larger than their bytes */
        in_kernel[at] = draw(2) == 0 ? 0 : in_kernel[at] / 2 + draw(3000);
        break;
    case 4:
        pass_ns(draw(2 * LINK_TICK_NS));
        link_tick(link);
        link_publish(link, draw(3) == 0 ? draw(50) : UINT64_MAX);
        break;
    case 5:
        draw_info(at);
        break;
    case 6:
        if (draw(3) > 0)
            break;
        link_drop(link, &flows[at]);
        link_drop(link, &flows[at]);
        assert_int_equal(flows[at].queued, 0);
        assert_int_equal(flows[at].flight, 0);
        in_kernel[at] = 0;
        break;
    }
}

/* The wire takes everything, and one worker finds that it is fast. */
static void let_all_leave(void)
{
    for (int i = 0; i < FLOWS; i++) {
        in_kernel[i] = 0;
        memset(&info[i], 0, sizeof(info[i]));
        if (i % 2 == 1)
            link_drop(&links[1], &flows[i]);
    }
    atomic_store(&shared.pacer, 0);
    atomic_store(&shared.window, 0);
    link_publish(&links[1], UINT64_MAX);
    become_fast(&links[0], 0);
}

TEST(what_is_under_way_is_the_sum_over_the_flows)
{
    unsigned engaged = 0;
    unsigned windowed = 0;
    uint64_t held = 0;

    for (int run = 0; run < 20; run++) {
        begin(LINK_AUTO, 0, 2);
        for (int step = 0; step < 20000; step++) {
            bool was_fast = !links[0].is_local;
            bool had_window = atomic_load(&shared.window) > 0;

            do_something((int)draw(FLOWS));
            engaged += was_fast && links[0].is_local;
            windowed += !had_window && atomic_load(&shared.window) > 0;
            assert_sums(&links[0], 0);
            assert_sums(&links[1], 1);
            assert_true(limit() >= LINK_LIMIT_MIN);
            assert_true(atomic_load(&shared.window) <= UINT64_C(6) << 30);
            if (step % 4000 == 2000)
                let_all_leave();
        }
        for (int i = 0; i < FLOWS; i++)
            link_drop(&links[i % 2], &flows[i]);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(links[i].queued, 0);
            assert_int_equal(links[i].flight, 0);
            assert_int_equal(links[i].standing, 0);
            assert_true(list_is_empty(&links[i].flows));
            link_publish(&links[i], UINT64_MAX);
            assert_int_equal(atomic_load(&shared.lines[i].queued), 0);
            assert_int_equal(atomic_load(&shared.lines[i].flight), 0);
            held += links[i].counters.held;
        }
    }
    assert_true(held > 0);
    assert_true(engaged > 10);
    assert_true(windowed > 10);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
