/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=clock_gettime */
#include "link_kernel.h"

#include "engine/link_priv.h"

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

static void at_a_rate_no_more_and_no_less_leaves(void **state)
{
    static const uint64_t rates[] = {1000,     125000,    1250000,
                                     12500000, 125000000, 1250000000};

    (void)state;
    for (int i = 0; i < 6; i++)
        for (workers = 1; workers <= WORKERS; workers *= 2)
            assert_rate_is_kept(rates[i]);
}

static void at_a_rate_what_was_not_sent_costs_nothing(void **state)
{
    (void)state;
    begin(LINK_RATE, 100000, 1);
    pass_ns(S_NS);
    for (int i = 0; i < 100000; i++)
        link_handed(&links[0], &flows[0], 0, 5, 0);
    assert_int_equal(allow(0, 5, 100000), LINK_BURST_BYTES);
}

static void at_a_rate_time_without_sending_is_no_credit(void **state)
{
    (void)state;
    begin(LINK_RATE, 100000, 1);
    pass_ns(100 * S_NS);
    assert_int_equal(allow(0, 5, 1000000), LINK_BURST_BYTES);
    link_handed(&links[0], &flows[0], LINK_BURST_BYTES, 5, 0);
    assert_int_equal(allow(0, 5, 1000000), 0);
    assert_int_equal(links[0].counters.held, 1);
    assert_int_equal(links[0].counters.held_bytes, 1000000);
}

static void at_a_rate_each_connection_costs_some_packets(void **state)
{
    (void)state;
    begin(LINK_RATE, 100000, 1);
    pass_ns(S_NS);
    for (int i = 0; i < 4; i++)
        open_flow(&links[0], i);
    assert_in_range(allow(0, 5, 1000000), LINK_BURST_BYTES - 4 * OPEN_BYTES,
                    LINK_BURST_BYTES - 4 * OPEN_BYTES + 4);
}

static void at_a_rate_who_is_not_next_leaves_the_bucket_to_others(void **state)
{
    (void)state;
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

/* --- A link of some rate, and as many downloads as it takes ------------------ */

static uint64_t lying[FLOWS];  /* bytes in the queue, as on the wire */
static uint64_t wanted[FLOWS]; /* that are not handed over yet */
static uint64_t queue;         /* of all */
static uint64_t left;          /* on the wire since ever */
static double credit;          /* of the wire, in bytes */

/* In packets, of each flow in turn. */
static void drain(uint64_t rate, uint64_t ns)
{
    static int at;

    credit += (double)rate * (double)ns / 1e9;
    while (credit > 0 && queue > 0) {
        uint64_t bytes = lying[at] < 1514 ? lying[at] : 1514;

        lying[at] -= bytes;
        in_kernel[at] = (uint32_t)(lying[at] + lying[at] / 4);
        queue -= bytes;
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
        if (wanted[i] > 0 || lying[i] > 0)
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
            lying[next] += link_wire_bytes(room);
            queue += link_wire_bytes(room);
            in_kernel[next] = (uint32_t)(lying[next] + lying[next] / 4);
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
    return (double)atomic_load(&shared.pace) / (double)rate;
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

static void the_pace_of_a_link_is_found_out(void **state)
{
    static const uint64_t rates[] = {1000000, 10000000, 100000000};

    (void)state;
    for (int i = 0; i < 3; i++)
        for (size_t count = 1; count <= WORKERS; count *= 2) {
            begin_link(count);
            pass_s(rates[i], 5);
            assert_link_is_kept(rates[i]);
        }
}

static void the_pace_follows_a_link_that_gets_slower_or_faster(void **state)
{
    (void)state;
    for (size_t count = 1; count <= WORKERS; count *= 2) {
        begin_link(count);
        pass_s(10000000, 3);
        pass_s(5000000, 1);
        assert_link_is_kept(5000000);
        pass_s(10000000, 4);
        assert_link_is_kept(10000000);
    }
}

/* Less than the link takes is wanted, so that nothing is held. */
static void the_pace_stays_when_it_holds_nothing(void **state)
{
    uint64_t pace;

    (void)state;
    begin_link(1);
    pass_s(10000000, 3);
    pace = atomic_load(&shared.pace);
    for (int i = 0; i < 10000; i++) {
        drain(10000000, LINK_TICK_NS);
        link_tick(&links[0]);
        assert_int_equal(allow(0, 5, 1000), 1000);
        hand(0, 1000, 5);
        in_kernel[0] = 0;
        link_publish(&links[0], UINT64_MAX);
    }
    assert_in_range(atomic_load(&shared.pace), pace - pace / 16,
                    pace + pace / 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_a_rate_no_more_and_no_less_leaves),
        TEST(at_a_rate_what_was_not_sent_costs_nothing),
        TEST(at_a_rate_time_without_sending_is_no_credit),
        TEST(at_a_rate_each_connection_costs_some_packets),
        TEST(at_a_rate_who_is_not_next_leaves_the_bucket_to_others),
        TEST(the_pace_of_a_link_is_found_out),
        TEST(the_pace_follows_a_link_that_gets_slower_or_faster),
        TEST(the_pace_stays_when_it_holds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
