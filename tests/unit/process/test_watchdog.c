#include "process/watchdog.h"

#include <limits.h>

#include "base/log.h"
#include "suite.h"

enum { WORKERS = 3, BEGIN_MS = 5000, PERIOD_MS = 20000 };

static struct stats_shared *shared;
static struct watchdog *watchdog;

static int set_up(void **state)
{
    struct stats_options options = {.worker_count = WORKERS,
                                    .schedule = "srpt"};
    struct now now;

    (void)state;
    log_open(LOG_LEVEL_ERROR);
    now_refresh(&now);
    shared = stats_shared_create(&options, &now);
    watchdog = shared ? watchdog_create(shared, PERIOD_MS, BEGIN_MS) : NULL;
    return watchdog ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    watchdog_destroy(watchdog);
    stats_shared_destroy(shared);
    return 0;
}

/* Lets workers but one (WORKERS: all) live until then; whether the manager is
 * fed at the end. */
static bool live(uint64_t from_ms, uint64_t to_ms, size_t but)
{
    bool feeds = false;
    int pause_ms;

    for (uint64_t ms = from_ms; ms <= to_ms; ms += 1000) {
        for (size_t i = 0; i < WORKERS; i++)
            if (i != but)
                stats_set_cpu(&shared->workers[i].profile, 0, ms * 1000000);
        if (watchdog_tick(watchdog, ms, &pause_ms))
            feeds = true;
        else if (pause_ms == PERIOD_MS / 4)
            feeds = false;
    }
    return feeds;
}

TEST(it_is_fed_four_times_a_period)
{
    int pause_ms;

    assert_true(watchdog_tick(watchdog, BEGIN_MS, &pause_ms));
    assert_int_equal(pause_ms, PERIOD_MS / 4);
    assert_false(watchdog_tick(watchdog, BEGIN_MS + 2000, &pause_ms));
    assert_int_equal(pause_ms, PERIOD_MS / 4 - 2000);
    assert_true(watchdog_tick(watchdog, BEGIN_MS + PERIOD_MS / 4, &pause_ms));
}

TEST(while_all_workers_move_it_is_fed)
{
    assert_true(live(BEGIN_MS, BEGIN_MS + 20 * PERIOD_MS, WORKERS));
}

TEST(one_stuck_worker_of_many_is_seen)
{
    for (size_t stuck = 0; stuck < WORKERS; stuck++) {
        uint64_t from_ms = BEGIN_MS + 100000 * (uint64_t)stuck;

        assert_true(live(from_ms, from_ms + 10000, WORKERS));
        assert_false(live(from_ms + 11000, from_ms + 40000, stuck));
        assert_true(live(from_ms + 41000, from_ms + 61000, WORKERS));
    }
}

TEST(a_worker_that_is_late_is_not_stuck)
{
    assert_true(live(BEGIN_MS, BEGIN_MS + 10000, WORKERS));
    assert_true(live(BEGIN_MS + 11000, BEGIN_MS + 10000 + PERIOD_MS / 2 - 1000,
                     1));
}

TEST(a_worker_that_never_moves_is_seen)
{
    assert_false(live(BEGIN_MS, BEGIN_MS + PERIOD_MS, 2));
}

TEST(a_short_period_asks_for_no_more_than_workers_note)
{
    int pause_ms;

    watchdog_destroy(watchdog);
    watchdog = watchdog_create(shared, 1000, BEGIN_MS);
    assert_non_null(watchdog);
    for (uint64_t ms = BEGIN_MS; ms < BEGIN_MS + 3000; ms += 250)
        assert_true(watchdog_tick(watchdog, ms, &pause_ms));
    assert_false(watchdog_tick(watchdog, BEGIN_MS + 3000, &pause_ms));
    assert_int_equal(pause_ms, 250);
}

TEST(while_the_server_drains_it_is_fed)
{
    int pause_ms;

    stats_shared_drain(shared);
    assert_true(watchdog_tick(watchdog, BEGIN_MS + 10 * PERIOD_MS, &pause_ms));
}

TEST(without_a_watchdog_there_is_nothing_to_feed)
{
    int pause_ms;

    assert_false(watchdog_tick(NULL, BEGIN_MS, &pause_ms));
    assert_int_equal(pause_ms, INT_MAX);
}

TEST(periods_of_any_length_are_understood)
{
    static const uint64_t periods[] = {1, 3, UINT64_MAX};
    int pause_ms;

    for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
        watchdog_destroy(watchdog);
        watchdog = watchdog_create(shared, periods[i], BEGIN_MS);
        assert_non_null(watchdog);
        assert_true(watchdog_tick(watchdog, BEGIN_MS, &pause_ms));
        assert_true(pause_ms > 0);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
