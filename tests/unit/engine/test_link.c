/* link: -Wl,--wrap=getsockopt,--wrap=setsockopt,--wrap=clock_gettime */
#include "engine/link.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include <cmocka.h>

#include "../draw.h"

enum { FLOWS = 30, FD_BASE = 1000, WORKERS = 2, MS_NS = 1000000 };

/* --- A kernel of our own ------------------------------------------------- */

static uint32_t in_kernel[FLOWS]; /* between socket and wire, of each */
static uint64_t clock_ns;
static unsigned calls; /* of all that is wrapped */

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len);
int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    uint32_t *memory = value;

    calls++;
    assert_in_range(fd, FD_BASE, FD_BASE + FLOWS - 1);
    assert_int_equal(level, SOL_SOCKET);
    assert_int_equal(name, SO_MEMINFO);
    assert_true(*len >= SK_MEMINFO_VARS * sizeof(*memory));
    memory[SK_MEMINFO_WMEM_ALLOC] = in_kernel[fd - FD_BASE];
    return 0;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value,
                      socklen_t len)
{
    (void)level;
    (void)name;
    (void)value;
    (void)len;
    calls++;
    assert_in_range(fd, FD_BASE, FD_BASE + FLOWS - 1);
    return 0;
}

/* cmocka measures with it too, on the real clock before the first test. */
int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    if (clock_ns == 0)
        return __real_clock_gettime(id, time);
    calls++;
    time->tv_sec = (time_t)(clock_ns / 1000000000);
    time->tv_nsec = (long)(clock_ns % 1000000000);
    return 0;
}

static struct link_shared shared;
static struct link links[WORKERS];
static struct link_flow flows[FLOWS];

static void use(enum link_mode mode, uint64_t rate)
{
    link_shared_fini(&shared);
    assert_int_equal(link_shared_init(&shared, mode, rate, WORKERS), 0);
    for (size_t i = 0; i < WORKERS; i++)
        link_init(&links[i], &shared, i);
    for (int i = 0; i < FLOWS; i++) {
        link_flow_init(&flows[i], FD_BASE + i);
        in_kernel[i] = 0;
    }
    calls = 0;
}

static int set_up(void **state)
{
    (void)state;
    clock_ns = UINT64_C(5000000000000);
    use(LINK_AUTO, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    link_shared_fini(&shared);
    clock_ns = 0;
    return 0;
}

static uint64_t limit(void)
{
    return atomic_load(&shared.limit);
}

static uint64_t allow(int number, uint64_t key, uint64_t want)
{
    return link_allow(&links[0], &flows[number], key, want);
}

/* Hands bytes over, and the kernel keeps them. */
static void hand(int number, uint64_t bytes, uint64_t key)
{
    link_handed(&links[0], &flows[number], bytes, key, clock_ns / MS_NS);
    in_kernel[number] += (uint32_t)bytes;
}

static void pass_ns(uint64_t ns)
{
    clock_ns += ns;
}

/* --- off ----------------------------------------------------------------- */

static void off_never_holds_nor_calls(void **state)
{
    (void)state;
    draw_seed = 1;
    use(LINK_OFF, 0);
    for (int i = 0; i < 10000; i++) {
        int at = (int)draw(FLOWS);
        uint64_t want = draw_bits() >> draw(60);

        assert_true(allow(at, draw_bits(), want) == want);
        link_handed(&links[0], &flows[at], draw(1 << 20), draw_bits(), 0);
        assert_false(link_watches(&links[0], &flows[at]));
        if (draw(10) == 0)
            link_tick(&links[0]);
        if (draw(10) == 0)
            link_drop(&links[0], &flows[at]);
    }
    assert_int_equal(calls, 0);
    assert_int_equal(links[0].queued, 0);
    assert_int_equal(links[0].counters.held, 0);
}

/* --- rate ---------------------------------------------------------------- */

static uint64_t on_wire(uint64_t bytes)
{
    return bytes + (bytes + LINK_SEGMENT_BYTES - 1) / LINK_SEGMENT_BYTES *
                       LINK_HEADER_BYTES;
}

/* All that is allowed is sent, looked at every tick, by so many links. Over
 * no stretch of time that begins with an empty bucket more than the rate may
 * leave, or less when more is wanted. */
static void assert_rate_is_kept(uint64_t rate, size_t link_count)
{
    uint64_t sent = 0;
    uint64_t burst;
    uint64_t begin_ns = clock_ns;
    double seconds;

    use(LINK_RATE, rate);
    burst = shared.burst;
    while (clock_ns - begin_ns < UINT64_C(4000000000)) {
        for (size_t i = 0; i < 2 * link_count; i++) {
            struct link *link = &links[i % link_count];
            struct link_flow *flow = &flows[i];
            uint64_t room;

            /* As many times as it is let. */
            while ((room = link_allow(link, flow, 5, 1 + draw(100000))) > 0) {
                link_handed(link, flow, room, 5, 0);
                sent += on_wire(room);
            }
            link_publish(link, draw(2) == 0 ? 5 : UINT64_MAX);
            link_tick(link);
        }
        seconds = (double)(clock_ns - begin_ns) / 1e9;
        assert_true((double)sent <=
                    (double)rate * seconds +
                        (double)on_wire(burst + LINK_SEGMENT_BYTES));
        pass_ns(LINK_TICK_NS / 2 + draw(LINK_TICK_NS));
    }
    assert_true((double)sent >= 0.96 * (double)rate * 4);
    assert_int_equal(links[0].queued, 0);
}

static void at_a_rate_no_more_and_no_less_leaves(void **state)
{
    static const uint64_t rates[] = {1000,     125000,    1250000,
                                     12500000, 125000000, 1250000000};

    (void)state;
    draw_seed = 2;
    for (int i = 0; i < 6; i++)
        for (size_t links_used = 1; links_used <= WORKERS; links_used++)
            assert_rate_is_kept(rates[i], links_used);
}

static void at_a_rate_what_was_not_sent_costs_nothing(void **state)
{
    (void)state;
    use(LINK_RATE, 100000);
    for (int i = 0; i < 100000; i++)
        link_handed(&links[0], &flows[0], 0, 5, 0);
    assert_int_equal(allow(0, 5, 100000), LINK_BURST_BYTES);
}

static void at_a_rate_time_without_sending_is_no_credit(void **state)
{
    (void)state;
    use(LINK_RATE, 100000);
    pass_ns(UINT64_C(100000000000));
    assert_int_equal(allow(0, 5, 1000000), LINK_BURST_BYTES);
    link_handed(&links[0], &flows[0], LINK_BURST_BYTES, 5, 0);
    assert_int_equal(allow(0, 5, 1000000), 0);
    assert_int_equal(links[0].counters.held, 1);
    assert_int_equal(links[0].counters.held_bytes, 1000000);
}

static void at_a_rate_who_is_not_next_leaves_the_bucket_to_others(void **state)
{
    (void)state;
    use(LINK_RATE, 100000);
    link_publish(&links[1], 3);
    assert_true(allow(0, 5, 1000000) > 0); /* the link would be idle */
    link_handed(&links[0], &flows[0], LINK_BURST_BYTES / 2, 5, 0);
    assert_int_equal(allow(0, 5, 1000000), 0);
    assert_true(allow(1, 2, 1000000) > 0); /* comes before the other's */
    link_publish(&links[1], UINT64_MAX);
    assert_true(allow(0, 5, 1000000) > 0);
}

/* --- auto ---------------------------------------------------------------- */

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
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 0);
    link_drop(&links[0], &flows[0]);
    link_publish(&links[0], UINT64_MAX);
    assert_int_equal(link_allow(&links[1], &flows[1], 5, 1000), 1000);
}

/* Something is held; at the tick the kernel has so many bytes. */
static void tick_with(uint32_t queued)
{
    hand(0, 2 * limit(), 5);
    in_kernel[0] = (uint32_t)(2 * limit());
    assert_int_equal(allow(1, 6, 1), 0);
    in_kernel[0] = queued;
    pass_ns(LINK_TICK_NS);
    link_tick(&links[0]);
}

static void the_limit_grows_when_the_queue_is_found_empty(void **state)
{
    uint64_t before = limit();

    (void)state;
    tick_with(0);
    assert_true(limit() >= before + before / 5);
}

static void the_limit_shrinks_when_more_than_half_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
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
    link_tick(&links[0]);
    assert_int_equal(limit(), LINK_LIMIT_START);
    assert_int_equal(calls, 0);
}

static void become_fast(void)
{
    for (int i = 0; links[0].is_engaged; i++) {
        assert_in_range(i, 0, 100);
        tick_with(0);
    }
}

static void a_queue_that_is_always_empty_makes_it_fast(void **state)
{
    (void)state;
    become_fast();
    assert_true(limit() > LINK_LIMIT_MAX);
    assert_int_equal(links[0].queued, 0);
    assert_false(link_watches(&links[0], &flows[0]));
    calls = 0;
    for (int i = 0; i < 10; i++) {
        assert_true(allow(2, 5, UINT64_MAX) == UINT64_MAX);
        link_handed(&links[0], &flows[2], 1000, 5, 0);
        link_tick(&links[0]);
    }
    assert_int_equal(calls, 0);
}

static void a_queue_that_stands_is_probed_and_engages_again(void **state)
{
    (void)state;
    become_fast();
    in_kernel[0] = 0;
    calls = 0;
    for (int i = 0; i < 100; i++) { /* nothing is ever found */
        link_handed(&links[0], &flows[0], LINK_PROBE_BYTES / 4, 5, 0);
        pass_ns(MS_NS);
    }
    assert_int_equal(calls, 25);
    assert_false(links[0].is_engaged);
    for (int i = 0; i < 4; i++)
        hand(0, LINK_PROBE_BYTES / 4, 5);
    hand(0, LINK_PROBE_BYTES, 5);
    if (!links[0].probe) /* it looked before the bytes were there */
        hand(0, LINK_PROBE_BYTES, 5);
    assert_true(link_watches(&links[0], &flows[0]));
    hand(1, 10, 5);
    assert_false(links[0].is_engaged); /* not yet: it may be on its way */
    pass_ns(LINK_PROBE_MS * MS_NS);
    hand(1, 10, 5);
    assert_true(links[0].is_engaged);
    assert_int_equal(limit(), LINK_LIMIT_START);
    assert_null(links[0].probe);
}

static void a_probed_flow_that_ends_is_not_looked_at(void **state)
{
    (void)state;
    become_fast();
    in_kernel[0] = 1;
    hand(0, LINK_PROBE_BYTES, 5);
    assert_true(link_watches(&links[0], &flows[0]));
    link_drop(&links[0], &flows[0]);
    assert_false(link_watches(&links[0], &flows[0]));
    calls = 0;
    pass_ns(10 * MS_NS);
    hand(1, 10, 5);
    assert_int_equal(calls, 0);
    assert_false(links[0].is_engaged);
}

/* --- Bytes are never lost ------------------------------------------------ */

static uint64_t sum_of(const struct link *link, int first)
{
    uint64_t sum = 0;

    for (int i = first; i < FLOWS; i += WORKERS) {
        assert_true(link_watches(link, &flows[i]) || flows[i].queued == 0);
        sum += flows[i].queued;
    }
    return sum;
}

/* Flows of even numbers are one worker's, the others the other's. */
static void do_something(int at)
{
    struct link *link = &links[at % WORKERS];
    uint64_t key = draw(50);

    switch (draw(6)) {
    case 0:
    case 1:
    case 2: {
        uint64_t room = link_allow(link, &flows[at], key, 1 + draw(100000));

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
        pass_ns(draw(LINK_TICK_NS));
        link_tick(link);
        link_publish(link, draw(3) == 0 ? draw(50) : UINT64_MAX);
        break;
    case 5:
        if (draw(3) > 0)
            break;
        link_drop(link, &flows[at]);
        link_drop(link, &flows[at]);
        assert_int_equal(flows[at].queued, 0);
        in_kernel[at] = 0;
        break;
    }
}

/* The wire takes everything, and one worker finds that it is fast. */
static void let_all_leave(void)
{
    for (int i = 0; i < FLOWS; i++) {
        in_kernel[i] = 0;
        if (i % WORKERS == 1)
            link_drop(&links[1], &flows[i]);
    }
    link_publish(&links[1], UINT64_MAX);
    become_fast();
}

static void what_is_queued_is_the_sum_over_the_flows(void **state)
{
    unsigned engaged_again = 0;
    bool was_held = false;

    (void)state;
    draw_seed = 5;
    for (int run = 0; run < 20; run++) {
        use(LINK_AUTO, 0);
        for (int step = 0; step < 20000; step++) {
            bool was_fast = !links[0].is_engaged;

            do_something((int)draw(FLOWS));
            engaged_again += was_fast && links[0].is_engaged;
            for (int i = 0; i < WORKERS; i++) {
                assert_true(links[i].queued == sum_of(&links[i], i));
                was_held = was_held || links[i].counters.held > 0;
            }
            assert_true(limit() >= LINK_LIMIT_MIN);
            if (step % 4000 == 2000)
                let_all_leave();
        }
        for (int i = 0; i < FLOWS; i++)
            link_drop(&links[i % WORKERS], &flows[i]);
        for (int i = 0; i < WORKERS; i++) {
            assert_int_equal(links[i].queued, 0);
            assert_true(list_is_empty(&links[i].flows));
            link_publish(&links[i], UINT64_MAX);
            assert_int_equal(atomic_load(&shared.lines[i].queued), 0);
        }
    }
    assert_true(was_held && engaged_again > 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(off_never_holds_nor_calls),
        TEST(at_a_rate_no_more_and_no_less_leaves),
        TEST(at_a_rate_what_was_not_sent_costs_nothing),
        TEST(at_a_rate_time_without_sending_is_no_credit),
        TEST(at_a_rate_who_is_not_next_leaves_the_bucket_to_others),
        TEST(flows_ahead_that_fill_the_limit_hold),
        TEST(a_short_one_is_not_refused_for_a_long_ones_bytes),
        TEST(who_is_not_next_sends_only_to_keep_the_link_busy),
        TEST(what_others_have_in_the_kernel_counts),
        TEST(the_limit_grows_when_the_queue_is_found_empty),
        TEST(the_limit_shrinks_when_more_than_half_is_there),
        TEST(the_limit_stays_when_nothing_was_held),
        TEST(a_queue_that_is_always_empty_makes_it_fast),
        TEST(a_queue_that_stands_is_probed_and_engages_again),
        TEST(a_probed_flow_that_ends_is_not_looked_at),
        TEST(what_is_queued_is_the_sum_over_the_flows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
