#include "unit/upstream/balance_row.h"

static enum balance_state state_of(int server, uint64_t now_ms)
{
    return balance_state_of(row.balance, server, now_ms);
}

/* One exchange with this server, whoever's turn it is. True: ejected. */
static bool fail_at(int server, uint64_t now_ms)
{
    atomic_fetch_add(&row.shared[server].active, 1);
    return give(server, BALANCE_FAILURE, now_ms);
}

static void succeed_at(int server, uint64_t now_ms)
{
    atomic_fetch_add(&row.shared[server].active, 1);
    assert_false(give(server, BALANCE_SUCCESS, now_ms));
}

/* Until when it is ejected, after as many failures as that takes. */
static uint64_t eject(int server, uint64_t now_ms)
{
    for (unsigned i = 1; i < row.options.fails_max; i++)
        assert_false(fail_at(server, now_ms));
    assert_true(fail_at(server, now_ms));
    assert_int_equal(state_of(server, now_ms), BALANCE_EJECTED);
    return atomic_load(&row.shared[server].ejected_until_ms);
}

static bool probe(int server, bool is_well, uint64_t now_ms)
{
    return balance_note_probe(row.balance, server, is_well, now_ms);
}

/* --- Ejection ------------------------------------------------------------- */

TEST(enough_failures_eject_a_server_for_a_while)
{
    uint64_t until_ms;

    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    until_ms = eject(0, START_MS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(until_ms - 1), 1);
    assert_int_equal(state_of(0, until_ms), BALANCE_UP);
    assert_int_not_equal(take(until_ms), take(until_ms));
}

TEST(failures_count_within_a_window)
{
    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    for (uint64_t window = 0; window < 5; window++) {
        uint64_t begin_ms = START_MS + window * 10000;

        assert_false(fail_at(0, begin_ms));
        assert_false(fail_at(0, begin_ms + 9999));
    }
    assert_true(fail_at(0, START_MS + 49999));
    assert_int_equal(state_of(1, START_MS + 49999), BALANCE_UP);
}

TEST(only_failures_count)
{
    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    for (int i = 0; i < 100; i++) {
        atomic_fetch_add(&row.shared[0].active, 1);
        assert_false(give(0, BALANCE_NEITHER, START_MS));
        succeed_at(0, START_MS);
    }
    assert_false(fail_at(0, START_MS));
    assert_false(fail_at(0, START_MS));
    succeed_at(0, START_MS);
    assert_true(fail_at(0, START_MS));
}

TEST(without_a_limit_failures_eject_nobody)
{
    ROW(1, 1);
    row.options.fails_max = 0;
    row_open(BALANCE_ROUND_ROBIN);
    for (int i = 0; i < 1000; i++)
        assert_false(fail_at(0, START_MS));
    assert_int_equal(state_of(0, START_MS), BALANCE_UP);
}

TEST(failures_of_an_ejected_one_prolong_nothing)
{
    uint64_t until_ms;

    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    until_ms = eject(0, START_MS);
    for (int i = 0; i < 10; i++)
        assert_false(fail_at(0, until_ms - 1));
    assert_int_equal(atomic_load(&row.shared[0].ejected_until_ms), until_ms);
    /* And when it is back it may fail as often as ever. */
    assert_false(fail_at(0, until_ms));
    assert_false(fail_at(0, until_ms));
    assert_true(fail_at(0, until_ms));
}

TEST(each_ejection_in_a_row_is_twice_as_long_up_to_a_limit)
{
    static const uint64_t expected_ms[] = {1000, 2000, 4000, 8000, 8000, 8000};
    uint64_t now_ms = START_MS;

    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    for (size_t i = 0; i < sizeof(expected_ms) / sizeof(*expected_ms); i++) {
        uint64_t until_ms = eject(0, now_ms);

        assert_in_range(until_ms - now_ms, expected_ms[i],
                        expected_ms[i] + expected_ms[i] / 4);
        now_ms = until_ms;
    }
    for (int i = 0; i < 1000; i++)
        now_ms = eject(0, now_ms);
    assert_in_range(eject(0, now_ms) - now_ms, 8000, 10000);
}

TEST(a_success_afterwards_ends_the_row)
{
    uint64_t now_ms = START_MS;

    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    now_ms = eject(0, now_ms);
    now_ms = eject(0, now_ms);
    /* One that began before it was ejected says nothing. */
    succeed_at(0, now_ms - 1);
    assert_in_range(eject(0, now_ms) - now_ms, 4000, 5000);
    now_ms = atomic_load(&row.shared[0].ejected_until_ms);
    succeed_at(0, now_ms);
    assert_in_range(eject(0, now_ms) - now_ms, 1000, 1250);
}

TEST(ejections_end_at_different_times)
{
    uint64_t soonest_ms = UINT64_MAX;
    uint64_t latest_ms = 0;

    ROW(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    for (int i = 0; i < 16; i++) {
        uint64_t for_ms = eject(i, START_MS) - START_MS;

        assert_in_range(for_ms, 1000, 1250);
        soonest_ms = for_ms < soonest_ms ? for_ms : soonest_ms;
        latest_ms = for_ms > latest_ms ? for_ms : latest_ms;
    }
    assert_true(latest_ms - soonest_ms > 100);
}

TEST(workers_share_what_they_know)
{
    struct balance *other;

    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    other = balance_create(&row.options, row.servers, row.shared, row.count, 0);
    assert_non_null(other);
    fail_at(0, START_MS);
    fail_at(0, START_MS);
    assert_int_equal(balance_take(other, 0, 0, START_MS), 0);
    assert_true(balance_give(other, 0, BALANCE_FAILURE, START_MS));
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(START_MS), 1);
    balance_destroy(other);
}

/* --- Panic ---------------------------------------------------------------- */

TEST(when_all_are_ejected_all_are_asked)
{
    unsigned counts[3];

    ROW(1, 1, 1);
    row.servers[2].is_backup = true;
    row_open(BALANCE_ROUND_ROBIN);
    eject(0, START_MS);
    eject(1, START_MS);
    count_takes(10, counts, START_MS);
    assert_int_equal(counts[2], 10);
    eject(2, START_MS);
    count_takes(10, counts, START_MS);
    assert_int_equal(counts[0], 5);
    assert_int_equal(counts[1], 5);
}

TEST(a_lone_server_is_asked_whatever_it_did)
{
    ROW(1);
    row_open(BALANCE_LEAST_CONN);
    eject(0, START_MS);
    assert_int_equal(take(START_MS), 0);
    assert_int_equal(balance_take(row.balance, 0, 1, START_MS), -1);
}

TEST(a_tried_one_that_is_up_is_no_reason_for_panic)
{
    ROW(1, 1);
    row_open(BALANCE_HASH);
    eject(0, START_MS);
    assert_int_equal(balance_take(row.balance, 0, 1 << 1, START_MS), -1);
}

TEST(panic_asks_nobody_whom_a_probe_found_down)
{
    ROW(1, 1);
    row.options.fall = 1;
    row_open(BALANCE_RANDOM);
    eject(0, START_MS);
    assert_true(probe(1, false, START_MS));
    for (int i = 0; i < 10; i++)
        assert_int_equal(take(START_MS), 0);
    assert_true(probe(0, false, START_MS));
    assert_int_equal(take(START_MS), -1);
}

/* --- Probes --------------------------------------------------------------- */

TEST(probes_turn_a_server_down_and_up)
{
    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    assert_false(probe(0, false, START_MS));
    assert_false(probe(0, false, START_MS));
    assert_int_equal(state_of(0, START_MS), BALANCE_UP);
    assert_true(probe(0, false, START_MS));
    assert_int_equal(state_of(0, START_MS), BALANCE_DOWN);
    assert_false(probe(0, false, START_MS));
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(START_MS), 1);
    assert_false(probe(0, true, START_MS));
    assert_int_equal(state_of(0, START_MS), BALANCE_DOWN);
    assert_true(probe(0, true, START_MS));
    assert_int_equal(state_of(0, START_MS), BALANCE_UP);
    assert_false(probe(0, true, START_MS));
}

TEST(probes_count_in_a_row)
{
    ROW(1);
    row_open(BALANCE_ROUND_ROBIN);
    for (int i = 0; i < 10; i++) {
        assert_false(probe(0, false, START_MS));
        assert_false(probe(0, false, START_MS));
        assert_false(probe(0, true, START_MS));
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe(0, false, START_MS), i == 2);
    for (int i = 0; i < 10; i++) {
        assert_false(probe(0, true, START_MS));
        assert_false(probe(0, false, START_MS));
    }
    assert_int_equal(state_of(0, START_MS), BALANCE_DOWN);
}

TEST(one_probe_is_enough_where_none_is_asked_for)
{
    ROW(1);
    row.options.rise = 0;
    row.options.fall = 0;
    row_open(BALANCE_ROUND_ROBIN);
    assert_true(probe(0, false, START_MS));
    assert_true(probe(0, true, START_MS));
}

TEST(being_found_well_again_ends_an_ejection)
{
    uint64_t until_ms;

    ROW(1, 1);
    row_open(BALANCE_ROUND_ROBIN);
    until_ms = eject(0, START_MS);
    /* To be well all the time does not: it fails at other things. */
    for (int i = 0; i < 5; i++)
        assert_false(probe(0, true, START_MS));
    assert_int_equal(state_of(0, until_ms - 1), BALANCE_EJECTED);
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe(0, false, START_MS), i == 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(probe(0, true, START_MS), i == 1);
    assert_int_equal(state_of(0, START_MS), BALANCE_UP);
}

/* --- Slow start ----------------------------------------------------------- */

/* A weight of 100 each, and what comes of 1000 takes when the first has been
 * back for ms. */
static void assert_share(uint64_t since_ms, uint64_t ms, unsigned expected)
{
    unsigned counts[2];

    count_takes(1000, counts, since_ms + ms);
    assert_in_range(counts[0], expected - 1, expected + 1);
}

TEST(whoever_comes_back_is_let_in_slowly)
{
    uint64_t until_ms;

    ROW(100, 100);
    row.options.slow_start_ms = 9000;
    row_open(BALANCE_ROUND_ROBIN);
    assert_share(START_MS, 0, 500); /* not at start */
    until_ms = eject(0, START_MS);
    assert_share(until_ms, 0, 91); /* 10 of 110 */
    assert_int_equal(state_of(0, until_ms), BALANCE_SLOW);
    assert_share(until_ms, 4000, 333); /* 50 of 150 */
    assert_share(until_ms, 8999, 500);
    assert_int_equal(state_of(0, until_ms + 8999), BALANCE_SLOW);
    assert_int_equal(state_of(0, until_ms + 9000), BALANCE_UP);
    assert_share(until_ms, 9000, 500);
}

TEST(whoever_is_found_well_is_let_in_slowly_too)
{
    ROW(100, 100);
    row.options.slow_start_ms = 9000;
    row_open(BALANCE_ROUND_ROBIN);
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe(0, false, START_MS), i == 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(probe(0, true, START_MS), i == 1);
    assert_int_equal(state_of(0, START_MS), BALANCE_SLOW);
    assert_share(START_MS, 0, 91);
    assert_share(START_MS, 9000, 500);
}

TEST(a_clock_that_is_behind_another_workers_does_no_harm)
{
    uint64_t until_ms;

    ROW(100, 100);
    row.options.slow_start_ms = 9000;
    row_open(BALANCE_ROUND_ROBIN);
    for (int i = 0; i < 3; i++)
        probe(0, false, START_MS);
    for (int i = 0; i < 2; i++)
        probe(0, true, START_MS);
    assert_int_equal(state_of(0, START_MS - 5), BALANCE_SLOW);
    assert_share(START_MS - 5, 0, 91);
    until_ms = eject(1, START_MS);
    assert_int_equal(state_of(1, until_ms - 5), BALANCE_EJECTED);
}

/* --- Retry-After ---------------------------------------------------------- */

TEST(it_says_when_to_come_again)
{
    uint64_t first_ms, second_ms;

    ROW(1, 1, 1);
    row.options.eject_ms = 60000;
    row.options.eject_max_ms = 60000;
    row.options.fall = 1;
    row_open(BALANCE_ROUND_ROBIN);
    /* Somebody is up, but at his limit. */
    assert_int_equal(balance_retry_after_s(row.balance, START_MS), 1);
    first_ms = eject(0, START_MS);
    second_ms = eject(1, START_MS + 30000);
    assert_int_equal(balance_retry_after_s(row.balance, START_MS), 1);
    assert_true(probe(2, false, START_MS));
    assert_true(first_ms < second_ms);
    assert_int_equal(balance_retry_after_s(row.balance, START_MS), 5);
    assert_int_equal(balance_retry_after_s(row.balance, first_ms - 4000), 4);
    assert_int_equal(balance_retry_after_s(row.balance, first_ms - 3001), 4);
    assert_int_equal(balance_retry_after_s(row.balance, first_ms - 1), 1);
    assert_int_equal(balance_retry_after_s(row.balance, first_ms), 1);
    assert_true(probe(0, false, START_MS) && probe(1, false, START_MS));
    assert_int_equal(balance_retry_after_s(row.balance, START_MS), 5);
}

TEST(a_long_ejection_of_all_is_told)
{
    uint64_t until_ms;

    ROW(1);
    row.options.eject_ms = 300000;
    row.options.eject_max_ms = 300000;
    row_open(BALANCE_ROUND_ROBIN);
    until_ms = eject(0, START_MS);
    assert_int_equal(balance_retry_after_s(row.balance, START_MS),
                     (until_ms - START_MS + 999) / 1000);
}

SUITE(.each_end = close_row);
