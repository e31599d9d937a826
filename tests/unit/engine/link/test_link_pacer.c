/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=ioctl,--wrap=clock_gettime */
#include "unit/engine/link/link_kernel.h"

#include "engine/link/link_priv.h"

static size_t workers;

/* --- A known rate -------------------------------------------------------- */

enum { OPEN_BYTES = LINK_OPEN_PACKETS * LINK_HEADER_BYTES };

/* All that is allowed is sent, looked at every tick, by so many links; and
 * connections are opened. Over no stretch of time that begins with an empty
 * bucket more than the rate may leave, or less when more is wanted. */
static void assert_rate_is_kept(uint64_t rate)
{
    uint64_t burst = rate / 1000 + LINK_BURST_BYTES;
    uint64_t sent = 0;
    uint64_t opened = 0;
    uint64_t begin_ns;

    begin(LINK_RATE, rate, workers);
    pass_ns(100 * S_NS); /* the bucket is empty */
    begin_ns = clock_ns;
    while (clock_ns - begin_ns < 4 * S_NS) {
        for (size_t i = 0; i < 2 * workers; i++) {
            struct link *link = &links[i % workers];
            uint64_t room;

            if (opened < sent / 8) {
                open_flow(link, (int)i);
                opened += OPEN_BYTES;
            }
            /* As many times as it is let. */
            while ((room = link_allow(link, &flows[i], 5, 1 + draw(100000)))) {
                link_handed(link, &flows[i], room, 5, 0);
                sent += link_wire_bytes(room);
            }
            link_publish(link, draw(2) == 0 ? 5 : UINT64_MAX);
            link_tick(link);
        }
        assert_true((double)(sent + opened) <=
                    (double)rate * (double)(clock_ns - begin_ns) / 1e9 +
                        (double)link_wire_bytes(burst + LINK_SEGMENT_BYTES) +
                        (double)(burst / 8 + OPEN_BYTES));
        pass_ns(LINK_TICK_NS / 2 + draw(LINK_TICK_NS));
    }
    assert_true((double)(sent + opened) >= 0.96 * (double)rate * 4);
    assert_true(opened > 0);
    assert_int_equal(links[0].queued, 0);
    assert_int_equal(looks_local + looks_remote, 0);
}

TEST(at_a_rate_no_more_and_no_less_leaves)
{
    static const uint64_t rates[] = {1000,     125000,    1250000,
                                     12500000, 125000000, 1250000000};

    for (int i = 0; i < 6; i++)
        for (workers = 1; workers <= WORKERS; workers *= 2)
            assert_rate_is_kept(rates[i]);
}

TEST(at_a_rate_what_was_not_sent_costs_nothing)
{
    begin(LINK_RATE, 100000, 1);
    pass_ns(S_NS);
    for (int i = 0; i < 100000; i++)
        link_handed(&links[0], &flows[0], 0, 5, 0);
    assert_int_equal(allow(0, 5, 100000), LINK_BURST_BYTES);
}

TEST(at_a_rate_time_without_sending_is_no_credit)
{
    begin(LINK_RATE, 100000, 1);
    pass_ns(100 * S_NS);
    assert_int_equal(allow(0, 5, 1000000), LINK_BURST_BYTES);
    link_handed(&links[0], &flows[0], LINK_BURST_BYTES, 5, 0);
    assert_int_equal(allow(0, 5, 1000000), 0);
    assert_int_equal(links[0].counters.held, 1);
    assert_int_equal(links[0].counters.held_bytes, 1000000);
}

TEST(at_a_rate_each_connection_costs_some_packets)
{
    begin(LINK_RATE, 100000, 1);
    pass_ns(S_NS);
    for (int i = 0; i < 4; i++)
        open_flow(&links[0], i);
    assert_in_range(allow(0, 5, 1000000), LINK_BURST_BYTES - 4 * OPEN_BYTES,
                    LINK_BURST_BYTES - 4 * OPEN_BYTES + 4);
}

TEST(at_a_rate_who_is_not_next_leaves_the_bucket_to_others)
{
    begin(LINK_RATE, 100000, 2);
    pass_ns(S_NS);
    link_publish(&links[1], 3);
    assert_true(allow(0, 5, 1000000) > 0); /* the link would be idle */
    link_handed(&links[0], &flows[0], LINK_BURST_BYTES / 2, 5, 0);
    assert_int_equal(allow(0, 5, 1000000), 0);
    assert_true(allow(1, 2, 1000000) > 0); /* comes before the other's */
    link_publish(&links[1], UINT64_MAX);
    assert_true(allow(0, 5, 1000000) > 0);
}

/* --- A link of some rate, and as many downloads as it takes -------------- */

static uint64_t lying[FLOWS];  /* bytes in the queue, as on the wire */
static uint64_t inside[FLOWS]; /* and in sockets, for want of a window */
static uint64_t socket_window; /* of each */
static uint64_t wanted[FLOWS]; /* that are not handed over yet */
static uint64_t queue;         /* of all */
static uint64_t left;          /* on the wire since ever */
static double credit;          /* of the wire, in bytes */

/* A socket sends as far as its window goes. */
static void send_from(size_t at)
{
    uint64_t room = socket_window > lying[at] ? socket_window - lying[at] : 0;
    uint64_t bytes = inside[at] < room ? inside[at] : room;

    inside[at] -= bytes;
    lying[at] += bytes;
    queue += bytes;
    in_socket[at] = (uint32_t)inside[at];
    in_kernel[at] = (uint32_t)(lying[at] + lying[at] / 4);
}

/* In packets, of each flow in turn. */
static void drain(uint64_t rate, uint64_t ns)
{
    static int at;

    credit += (double)rate * (double)ns / 1e9;
    while (credit > 0 && queue > 0) {
        uint64_t bytes = lying[at] < 1514 ? lying[at] : 1514;

        lying[at] -= bytes;
        queue -= bytes;
        send_from((size_t)at);
        left += bytes;
        credit -= (double)bytes;
        at = (at + 1) % FLOWS;
    }
    if (queue == 0 && credit > 0)
        credit = 0; /* nothing is saved up */
    clock_ns += ns;
}

/* Who has received all asks for something else; one of each worker has asked
 * for more than can be sent. */
static void ask_anew(void)
{
    for (size_t i = 0; i < FLOWS; i++) {
        if (wanted[i] > 0 || lying[i] > 0 || inside[i] > 0)
            continue;
        link_drop(&links[i % workers], &flows[i]);
        wanted[i] = i < workers ? UINT64_C(1) << 40
                                : 1 + draw(2000u << draw(10));
    }
}

/* The shortest first, until one is held. */
static void turn(size_t worker)
{
    struct link *link = &links[worker];
    uint64_t room = 0;
    uint64_t key;

    do {
        size_t next = worker;

        for (size_t i = worker; i < FLOWS; i += workers)
            if (wanted[i] > 0 && wanted[i] < wanted[next])
                next = i;
        key = wanted[next];
        room = link_allow(link, &flows[next], key, key < 524288 ? key : 524288);
        if (room > 0) {
            wanted[next] -= room;
            inside[next] += link_wire_bytes(room);
            send_from(next);
            link_handed(link, &flows[next], room, wanted[next],
                        clock_ns / MS_NS);
        }
    } while (room > 0);
    link_publish(link, key);
}

static void begin_link(size_t worker_count)
{
    workers = worker_count;
    begin(LINK_AUTO, 0, workers);
    memset(lying, 0, sizeof(lying));
    memset(wanted, 0, sizeof(wanted));
    memset(inside, 0, sizeof(inside));
    socket_window = UINT64_MAX;
    queue = left = 0;
    credit = 0;
}

/* One tick of each worker, at different times. */
static void pass_tick(uint64_t rate)
{
    for (size_t i = 0; i < workers; i++) {
        drain(rate, LINK_TICK_NS / workers + draw(LINK_TICK_NS / 10));
        ask_anew();
        link_tick(&links[i]);
        turn(i);
    }
}

static void pass_s(uint64_t rate, double seconds)
{
    uint64_t end_ns = clock_ns + (uint64_t)(seconds * 1e9);

    while (clock_ns < end_ns)
        pass_tick(rate);
}

static double pace_share(uint64_t rate)
{
    return (double)atomic_load(&shared.pacer) / (double)rate;
}

/* For some seconds the pace stays at the link's rate, nearly all of that is
 * used, and what stands in the queue is gone within a few milliseconds. */
static void assert_link_is_kept(uint64_t rate)
{
    uint64_t queue_max = 2 * LINK_BURST_BYTES + rate / 1000 * 2;
    uint64_t begin_ns = clock_ns;
    uint64_t begin_left = left;
    uint64_t longest = 0;

    while (clock_ns - begin_ns < 5 * S_NS) {
        pass_tick(rate);
        assert_true(pace_share(rate) > 0.9 && pace_share(rate) < 1.06);
        if (queue > longest)
            longest = queue;
    }
    assert_true(longest < queue_max);
    assert_true((double)(left - begin_left) >=
                0.95 * (double)rate * (double)(clock_ns - begin_ns) / 1e9);
    assert_true(links[0].is_local);
}

TEST(the_pace_of_a_link_is_found_out)
{
    static const uint64_t rates[] = {1000000, 10000000, 100000000};

    for (int i = 0; i < 3; i++)
        for (size_t count = 1; count <= WORKERS; count *= 2) {
            begin_link(count);
            pass_s(rates[i], 5);
            assert_link_is_kept(rates[i]);
        }
}

/* Else nothing of that would seem to wait, and the link to carry as little as
 * is handed over meanwhile. */
TEST(what_sockets_keep_has_not_left)
{
    static const uint64_t rates[] = {250000, 1000000, 10000000};

    for (int i = 0; i < 3; i++)
        for (size_t count = 1; count <= WORKERS; count *= 2) {
            begin_link(count);
            socket_window = 8192;
            pass_s(rates[i], 5);
            assert_link_is_kept(rates[i]);
        }
}

/* For some time ticks come late by so much, as others have the CPU. */
static void come_late(struct link *link, uint64_t late_ns)
{
    for (int i = 0; i < 100; i++) {
        link_await(link);
        pass_ns(LINK_TICK_NS + late_ns);
        link_tick(link);
    }
}

TEST(at_a_rate_more_leaves_ahead_when_ticks_are_late)
{
    const uint64_t rate = 100000000;
    const uint64_t usual = rate / 1000 * LINK_RATE_PERCENT / 100;

    begin(LINK_RATE, rate, 1);
    assert_in_range(allow(0, 5, 1 << 30), usual - usual / 8, usual);
    come_late(&links[0], 3 * MS_NS);
    assert_in_range(allow(0, 5, 1 << 30), 3 * usual, 4 * usual + usual / 8);
    come_late(&links[0], 100 * MS_NS); /* which nothing would make up for */
    assert_in_range(allow(0, 5, 1 << 30), 8 * usual, 9 * usual + usual / 8);
    for (int i = 0; i < 10; i++)
        come_late(&links[0], 0);
    assert_in_range(allow(0, 5, 1 << 30), usual - usual / 8, usual + usual / 8);
}

TEST(the_pace_follows_a_link_that_gets_slower_or_faster)
{
    for (size_t count = 1; count <= WORKERS; count *= 2) {
        begin_link(count);
        pass_s(10000000, 3);
        pass_s(5000000, 1);
        assert_link_is_kept(5000000);
        pass_s(10000000, 4);
        assert_link_is_kept(10000000);
    }
}

/* For a moment, somewhere in a window or two, this machine or another has no
 * CPU. The pace is that of the link still. */
TEST(a_moment_without_a_cpu_is_no_narrow_link)
{
    for (size_t count = 1; count <= WORKERS; count *= 2) {
        begin_link(count);
        pass_s(10000000, 3);
        for (int i = 0; i < 20; i++) {
            pass_s(10000000, 0.3 + (double)i / 1000);
            assert_true(pace_share(10000000) > 0.9);
            pass_s(6000000, 0.022);
            assert_true(pace_share(10000000) > 0.85);
        }
    }
}

/* For longer the pace goes down, as there is no telling, and is back at once:
 * what comes at a load of 0.9 would otherwise collect for seconds. */
TEST(what_a_moment_has_taken_of_the_pace_comes_back)
{
    for (size_t count = 1; count <= WORKERS; count *= 2)
        for (int ms = 20; ms <= 160; ms += 20) {
            begin_link(count);
            pass_s(10000000, 3);
            pass_s(3000000, (double)ms / 1000);
            pass_s(10000000, 0.4);
            assert_true(pace_share(10000000) > 0.9);
            assert_link_is_kept(10000000);
        }
}

/* One tick of each worker that has a CPU: some have none for a while, again and
 * again, with bytes in the queue. */
static void pass_tick_late(uint64_t rate)
{
    static uint64_t away_ns[WORKERS];

    for (size_t i = 0; i < workers; i++) {
        drain(rate, LINK_TICK_NS / workers + draw(LINK_TICK_NS / 10));
        ask_anew();
        if (clock_ns < away_ns[i])
            continue;
        if (draw(2) == 0)
            away_ns[i] = clock_ns + (2 + draw(6)) * LINK_TICK_NS;
        link_tick(&links[i]);
        turn(i);
    }
}

TEST(the_pace_does_not_run_away_while_workers_come_late)
{
    const uint64_t rate = 10000000;

    for (size_t count = 2; count <= WORKERS; count *= 2) {
        uint64_t end_ns;

        begin_link(count);
        pass_s(rate, 3);
        end_ns = clock_ns + 30 * S_NS;
        while (clock_ns < end_ns) {
            pass_tick_late(rate);
            assert_true(pace_share(rate) < 1.35); /* see FAR_SHARE */
        }
        pass_s(rate, 0.5);
        assert_link_is_kept(rate);
    }
}

/* So much leaves, and nothing stays in the queue though the bucket holds
 * something back. */
static uint64_t pace_when_so_much_leaves(uint64_t rate)
{
    begin(LINK_AUTO, 0, 1);
    atomic_store(&shared.pacer, 10000000);
    for (int i = 0; i < 500; i++) {
        pass_ns(4 * MS_NS);
        links[0].handed += rate / 250;
        links[0].was_paced = true;
        link_pacer_adapt(&links[0], 0, clock_ns);
    }
    return atomic_load(&shared.pacer);
}

TEST(the_pace_rises_only_while_as_much_leaves)
{
    assert_int_equal(pace_when_so_much_leaves(5000000), 10000000);
    assert_true(pace_when_so_much_leaves(9900000) > 10500000);
}

/* Less than the link takes is wanted, so that nothing is held. */
TEST(the_pace_stays_when_it_holds_nothing)
{
    uint64_t pacer;

    begin_link(1);
    pass_s(10000000, 3);
    pacer = atomic_load(&shared.pacer);
    for (int i = 0; i < 10000; i++) {
        drain(10000000, LINK_TICK_NS);
        link_tick(&links[0]);
        assert_int_equal(allow(0, 5, 1000), 1000);
        hand(0, 1000, 5);
        in_kernel[0] = 0;
        link_publish(&links[0], UINT64_MAX);
    }
    assert_in_range(atomic_load(&shared.pacer), pacer - pacer / 16,
                    pacer + pacer / 16);
}

/* Somebody has no CPU for a moment while the pace is first found out: as no queue
 * has stood at it yet, it soon becomes what the link takes. */
TEST(a_moment_without_a_cpu_at_the_beginning_is_soon_forgotten)
{
    static const uint64_t rates[] = {10000000, 100000000};

    for (int i = 0; i < 2; i++)
        for (size_t count = 1; count <= WORKERS; count *= 2)
            for (int ms = 0; ms < 100; ms += 5) {
                begin_link(count);
                pass_s(rates[i], (double)ms / 1000);
                pass_s(rates[i] / 2, 0.025);
                pass_s(rates[i], 0.5);
                assert_true(pace_share(rates[i]) > 0.9);
                assert_link_is_kept(rates[i]);
            }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
