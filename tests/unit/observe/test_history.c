/* link: -Wl,--wrap=pages_open */
#include "observe/history.h"

#include <math.h>
#include <pthread.h>

#include "suite.h"
#include "unit/memory.h"
#include "unit/observe/sample_stats.h"

static struct stats_shared *shared;
static struct stats *stats;
static struct stats_snapshot *snapshot;
static struct history *history;
static struct history_point points[HISTORY_POINTS_MAX + 1];
static struct now now;

static int set_up(void **state)
{
    struct stats_options options = sample_options(1);

    (void)state;
    now = sample_began;
    shared = stats_shared_create(&options, &now);
    stats = shared ? &shared->workers[0] : NULL;
    snapshot = shared ? stats_snapshot_create(shared) : NULL;
    history = history_create();
    return snapshot && history ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    history_destroy(history);
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    return 0;
}

/* A second goes by. */
static void note(void)
{
    now.mono_ms += 1000;
    now.wall_ns += 1000000000;
    stats_read(shared, &now, snapshot);
    history_note(history, snapshot);
}

static const struct history_point *last(void)
{
    assert_int_equal(history_read(history, points, 1), 1);
    return points;
}

TEST(at_first_there_is_no_point)
{
    assert_int_equal(history_read(history, points, HISTORY_POINTS_MAX), 0);
}

TEST(the_first_point_tells_what_was_since_the_start)
{
    sample_note(stats, 1000);
    sample_note(stats, 1000);
    note();
    assert_int_equal(last()->requests, 2);
    assert_int_equal(last()->bytes_out, 2400);
    assert_int_equal(last()->total_p50_ns, 1000);
    assert_int_equal(last()->wall_ns, sample_began.wall_ns + 1000000000);
}

TEST(a_point_tells_of_its_own_second_alone)
{
    const struct history_point *point;

    for (int i = 0; i < 1000; i++)
        sample_note(stats, 60 * (uint64_t)SAMPLE_MS);
    note();
    for (unsigned i = 1; i <= 100; i++)
        sample_note(stats, i * (uint64_t)SAMPLE_MS);
    note();
    point = last();
    assert_int_equal(point->requests, 100);
    assert_int_equal(point->bytes_out, 120000);
    assert_in_range(point->total_p50_ns, 49500 * SAMPLE_US, 50500 * SAMPLE_US);
    assert_in_range(point->total_p90_ns, 89100 * SAMPLE_US, 90900 * SAMPLE_US);
    assert_in_range(point->total_p99_ns, 98010 * SAMPLE_US, 99990 * SAMPLE_US);
    assert_in_range(point->wait_p99_ns, 49000 * SAMPLE_US, 50000 * SAMPLE_US);
}

TEST(a_second_without_requests_knows_no_ratio)
{
    sample_note(stats, 1000);
    note();
    note();
    assert_int_equal(last()->requests, 0);
    assert_int_equal(last()->bytes_out, 0);
    assert_int_equal(last()->total_p99_ns, 0);
    assert_int_equal(last()->wait_p99_ns, 0);
    assert_true(isnan(last()->hit_ratio));
}

TEST(the_hit_ratio_is_that_of_the_second)
{
    stats_set_cache(stats, &(struct stats_cache){.hits = 10, .misses = 90});
    note();
    assert_true(last()->hit_ratio == 0.1);
    stats_set_cache(stats, &(struct stats_cache){.hits = 13, .misses = 91});
    note();
    assert_true(last()->hit_ratio == 0.75);
    stats_set_cache(stats, &(struct stats_cache){.hits = 13, .misses = 95});
    note();
    assert_true(last()->hit_ratio == 0);
}

/* Requests are counted at once, what they asked of caches once a second. */
TEST(the_hit_ratio_stays_until_caches_tell_of_requests)
{
    stats_set_cache(stats, &(struct stats_cache){.hits = 30, .misses = 10});
    sample_note(stats, 1000);
    note();
    assert_true(last()->hit_ratio == 0.75);
    sample_note(stats, 1000);
    note();
    assert_true(last()->hit_ratio == 0.75);
    stats_set_cache(stats, &(struct stats_cache){.hits = 31, .misses = 11});
    sample_note(stats, 1000);
    note();
    assert_true(last()->hit_ratio == 0.5);
    note();
    assert_true(isnan(last()->hit_ratio));
}

TEST(requests_that_ask_no_cache_leave_it_unknown)
{
    sample_note(stats, 1000);
    note();
    assert_int_equal(last()->requests, 1);
    assert_true(isnan(last()->hit_ratio));
}

TEST(depth_and_open_connections_are_of_the_moment)
{
    stats_note_open(stats);
    stats_note_open(stats);
    stats_set_queue(stats, 7, 700);
    note();
    assert_int_equal(last()->queue_depth, 7);
    assert_int_equal(last()->open, 2);
    stats_note_close(stats, STATS_CLOSE_CLIENT);
    stats_set_queue(stats, 0, 0);
    note();
    assert_int_equal(last()->queue_depth, 0);
    assert_int_equal(last()->open, 1);
}

TEST(the_newest_points_are_kept_oldest_first)
{
    for (unsigned second = 1; second <= 2 * HISTORY_POINTS_MAX + 7; second++) {
        unsigned kept = second < HISTORY_POINTS_MAX ? second
                                                    : HISTORY_POINTS_MAX;

        for (unsigned i = 0; i < second % 5; i++)
            sample_note(stats, 1000);
        note();
        assert_int_equal(history_read(history, points, HISTORY_POINTS_MAX + 1),
                         kept);
        for (unsigned i = 0; i < kept; i++) {
            unsigned then = second - kept + 1 + i;

            assert_int_equal(points[i].requests, then % 5);
            assert_int_equal(points[i].wall_ns,
                             sample_began.wall_ns + then * INT64_C(1000000000));
        }
    }
}

TEST(fewer_are_read_when_fewer_are_wanted)
{
    for (unsigned second = 1; second <= 10; second++)
        note();
    assert_int_equal(history_read(history, points, 0), 0);
    assert_int_equal(history_read(history, points, 3), 3);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(points[i].wall_ns,
                         sample_began.wall_ns + (8 + i) * INT64_C(1000000000));
}

TEST(without_memory_there_is_no_history)
{
    allocations_left = 0;
    assert_null(history_create());
    allocations_left = -1;
    history_destroy(NULL);
}

/* --- One that notes, one that reads -------------------------------------- */

enum { ROUNDS = 2000 };

static atomic_bool is_over;

static void *note_many(void *context)
{
    (void)context;
    for (int i = 0; i < ROUNDS; i++)
        note();
    atomic_store(&is_over, true);
    return NULL;
}

TEST(points_are_read_whole_while_new_ones_come)
{
    unsigned faults = 0;
    pthread_t thread;

    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, note_many, NULL), 0);
    do {
        size_t count = history_read(history, points, HISTORY_POINTS_MAX);

        for (size_t i = 1; i < count; i++)
            faults += points[i].wall_ns - points[i - 1].wall_ns != 1000000000;
    } while (!atomic_load(&is_over));
    pthread_join(thread, NULL);
    assert_int_equal(faults, 0);
    assert_int_equal(history_read(history, points, HISTORY_POINTS_MAX),
                     HISTORY_POINTS_MAX);
}

/* --- Nothing -------------------------------------------------------------- */

static void assert_same(const struct history_point *a,
                        const struct history_point *b)
{
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->requests, b->requests);
    assert_int_equal(a->bytes_out, b->bytes_out);
    assert_int_equal(a->total_p50_ns, b->total_p50_ns);
    assert_int_equal(a->total_p90_ns, b->total_p90_ns);
    assert_int_equal(a->total_p99_ns, b->total_p99_ns);
    assert_int_equal(a->wait_p99_ns, b->wait_p99_ns);
    assert_int_equal(a->queue_depth, b->queue_depth);
    assert_int_equal(a->open, b->open);
    assert_true(a->hit_ratio == b->hit_ratio ||
                (isnan(a->hit_ratio) && isnan(b->hit_ratio)));
}

TEST(where_nothing_happens_a_point_needs_no_snapshot)
{
    static struct history_point others[HISTORY_POINTS_MAX];
    struct history *other = history_create();

    assert_non_null(other);
    for (int i = 0; i < 20; i++) {
        struct stats_pulse before, after;
        size_t count;

        stats_read_pulse(shared, &before);
        if (i % 4 == 2) {
            stats_note_open(stats);
            sample_note(stats, 1000);
        }
        if (i == 6)
            stats_set_cache(stats, &(struct stats_cache){.hits = 3});
        if (i == 11)
            stats_set_queue(stats, 5, 100);
        stats_read_pulse(shared, &after);
        note();
        if (memcmp(&before, &after, sizeof(before)) == 0)
            history_note_nothing(other, now.wall_ns);
        else
            history_note(other, snapshot);
        assert_int_equal(memcmp(&before, &after, sizeof(before)) != 0,
                         i % 4 == 2 || i == 11);
        count = history_read(history, points, HISTORY_POINTS_MAX);
        assert_int_equal(history_read(other, others, HISTORY_POINTS_MAX),
                         count);
        assert_same(&points[count - 1], &others[count - 1]);
    }
    history_destroy(other);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
