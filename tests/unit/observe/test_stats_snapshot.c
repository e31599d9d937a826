/* link: -Wl,--wrap=pages_open */
#include "observe/stats_snapshot.h"

#include <math.h>
#include <pthread.h>

#include "suite.h"
#include "unit/memory.h"
#include "unit/observe/sample_stats.h"

enum { WORKERS = 3 };

static struct stats_shared *shared;
static struct stats_snapshot *snapshot;

static int set_up(void **state)
{
    struct stats_options options = sample_options(WORKERS);

    (void)state;
    shared = stats_shared_create(&options, &sample_began);
    snapshot = shared ? stats_snapshot_create(shared) : NULL;
    return snapshot ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    return 0;
}

static void take(void)
{
    stats_read(shared, &sample_now, snapshot);
}

static bool is_about(double value, double wanted)
{
    return fabs(value - wanted) < 1e-9;
}

/* --- Sums ---------------------------------------------------------------- */

TEST(at_first_all_is_zero)
{
    take();
    assert_int_equal(snapshot->requests, 0);
    assert_int_equal(snapshot->total.count, 0);
    assert_int_equal(snapshot->slowest_count, 0);
    assert_true(snapshot->shares.idle == 0);
    assert_int_equal(snapshot->uptime_ms, 1200);
    assert_int_equal(snapshot->wall_ns, sample_now.wall_ns);
    assert_int_equal(snapshot->began_wall_ns, sample_began.wall_ns);
    assert_false(snapshot->is_draining);
}

TEST(a_cleared_one_is_as_if_it_were_new)
{
    sample_note(&shared->workers[0], 10);
    take();
    assert_int_equal(snapshot->requests, 1);
    stats_snapshot_clear(snapshot);
    assert_int_equal(snapshot->requests, 0);
    assert_int_equal(snapshot->total.count, 0);
    assert_int_equal(snapshot->workers[0].requests, 0);
    stats_snapshot_clear(snapshot);
    take();
    assert_int_equal(snapshot->requests, 1);
    assert_int_equal(snapshot->workers[0].requests, 1);
}

TEST(reading_twice_counts_once)
{
    sample_note(&shared->workers[0], 1000);
    take();
    take();
    assert_int_equal(snapshot->requests, 1);
    assert_int_equal(snapshot->total.count, 1);
    assert_int_equal(snapshot->slowest_count, 1);
}

TEST(what_workers_counted_is_summed)
{
    for (unsigned i = 0; i < WORKERS; i++)
        for (unsigned n = 0; n <= i; n++) {
            struct stats_exchange exchange = sample_exchange(1000);

            exchange.method = i;
            exchange.status = 200 + i;
            exchange.is_complete = n > 0;
            stats_note_exchange(&shared->workers[i], &exchange);
        }
    take();
    assert_int_equal(snapshot->requests, 6);
    assert_int_equal(snapshot->incomplete, 3);
    assert_int_equal(snapshot->bytes_in, 600);
    assert_int_equal(snapshot->bytes_out, 7200);
    for (unsigned i = 0; i < WORKERS; i++) {
        assert_int_equal(snapshot->methods[i], i + 1);
        assert_int_equal(snapshot->statuses[200 + i - STATS_STATUS_MIN], i + 1);
        assert_int_equal(snapshot->workers[i].requests, i + 1);
    }
}

TEST(times_of_all_sizes_and_workers_are_merged)
{
    for (unsigned i = 0; i < WORKERS; i++)
        for (unsigned size = 0; size < STATS_SIZE_COUNT; size++) {
            struct stats_exchange exchange = sample_exchange((uint64_t)(1 + i) *
                                                             (1 + size) * 1000);

            exchange.body_bytes = stats_size_bound(size);
            stats_note_exchange(&shared->workers[i], &exchange);
            stats_note_unsent(&shared->workers[i], 50);
        }
    take();
    assert_int_equal(snapshot->total.count, 15);
    assert_int_equal(snapshot->total.min, 1000);
    assert_int_equal(snapshot->total.max, 15000);
    assert_int_equal(snapshot->total.sum, (1 + 2 + 3) * 15 * 1000);
    assert_int_equal(snapshot->wait.sum, (1 + 2 + 3) * 15 * 500);
    assert_int_equal(snapshot->service.sum, (1 + 2 + 3) * 15 * 250);
    assert_int_equal(snapshot->unsent.sum, 15 * 50);
    for (unsigned size = 0; size < STATS_SIZE_COUNT; size++) {
        assert_int_equal(snapshot->sizes[size].wait.count, WORKERS);
        assert_int_equal(snapshot->sizes[size].total.max,
                         3000 * (uint64_t)(1 + size));
    }
}

TEST(connections_are_open_until_they_are_closed)
{
    for (unsigned i = 0; i < 10; i++)
        stats_note_open(&shared->workers[i % 2]);
    stats_note_close(&shared->workers[0], STATS_CLOSE_IDLE);
    stats_note_close(&shared->workers[1], STATS_CLOSE_IDLE);
    stats_note_close(&shared->workers[1], STATS_CLOSE_DRAIN);
    stats_note_refused(&shared->acceptor, STATS_REFUSAL_LIMIT);
    take();
    assert_int_equal(snapshot->accepted, 10);
    assert_int_equal(snapshot->open, 7);
    assert_int_equal(snapshot->workers[0].open, 4);
    assert_int_equal(snapshot->workers[1].open, 3);
    assert_int_equal(snapshot->closed[STATS_CLOSE_IDLE], 2);
    assert_int_equal(snapshot->closed[STATS_CLOSE_DRAIN], 1);
    assert_int_equal(snapshot->closed[STATS_CLOSE_CLIENT], 0);
    assert_int_equal(snapshot->refused[STATS_REFUSAL_LIMIT], 1);
    assert_int_equal(snapshot->refused[STATS_REFUSAL_DESCRIPTORS], 0);
}

/* As a reader on another processor might see it. */
TEST(a_close_seen_before_its_open_counts_as_none_open)
{
    stats_note_open(&shared->workers[1]);
    stats_note_close(&shared->workers[0], STATS_CLOSE_CLIENT);
    take();
    assert_int_equal(snapshot->workers[0].open, 0);
    assert_int_equal(snapshot->open, 1);
}

TEST(queues_are_summed_and_told_apart)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        stats_set_queue(&shared->workers[i], 10, 0);
        stats_set_queue(&shared->workers[i], i, 100 * i);
        stats_note_overtake(&shared->workers[i]);
    }
    take();
    assert_int_equal(snapshot->queue_depth, 3);
    assert_int_equal(snapshot->queue_depth_max, 30);
    assert_int_equal(snapshot->queue_bytes, 300);
    assert_int_equal(snapshot->overtakes, 3);
    assert_int_equal(snapshot->workers[2].queue_depth, 2);
    assert_int_equal(snapshot->workers[2].queue_depth_max, 10);
    assert_int_equal(snapshot->workers[2].queue_bytes, 200);
}

TEST(caches_are_summed_as_they_are_now)
{
    struct stats_cache cache = {.hits = 1,
                                .misses = 2,
                                .evictions = 3,
                                .coded = 4,
                                .saved_bytes = 50,
                                .bytes = 400,
                                .entries = 5};

    for (unsigned i = 0; i < WORKERS; i++) {
        stats_set_cache(&shared->workers[i],
                        &(struct stats_cache){.hits = 9,
                                              .misses = 9,
                                              .evictions = 9,
                                              .bytes = 9,
                                              .entries = 9});
        stats_set_cache(&shared->workers[i], &cache);
    }
    take();
    assert_int_equal(snapshot->cache.hits, 3);
    assert_int_equal(snapshot->cache.misses, 6);
    assert_int_equal(snapshot->cache.evictions, 9);
    assert_int_equal(snapshot->cache.coded, 12);
    assert_int_equal(snapshot->cache.saved_bytes, 150);
    assert_int_equal(snapshot->cache.bytes, 1200);
    assert_int_equal(snapshot->cache.entries, 15);
}

TEST(the_link_is_one_and_its_uses_are_summed)
{
    stats_set_link(&shared->workers[0],
                   &(struct stats_link){false, 1, 10, 100, 4096, 9000, 7});
    stats_set_link(&shared->workers[1],
                   &(struct stats_link){true, 2, 20, 200, 4096, 8000, 9});
    take();
    assert_true(snapshot->link.is_engaged);
    assert_int_equal(snapshot->link.held, 3);
    assert_int_equal(snapshot->link.held_bytes, 30);
    assert_int_equal(snapshot->link.measured, 300);
    assert_int_equal(snapshot->link.limit_bytes, 4096);
    assert_int_equal(snapshot->link.rate, 9000);
    assert_int_equal(snapshot->link.delay_us, 9);
}

TEST(the_log_is_counted_by_workers_and_by_its_writer)
{
    counter_add(&shared->workers[0].log.lines, 10);
    counter_add(&shared->workers[1].log.lines, 20);
    counter_add(&shared->workers[1].log.dropped, 1);
    counter_add(&shared->log.dropped, 5);
    counter_add(&shared->log.errors, 2);
    take();
    assert_int_equal(snapshot->log_lines, 30);
    assert_int_equal(snapshot->log_dropped, 6);
    assert_int_equal(snapshot->log_errors, 2);
}

TEST(draining_is_told)
{
    stats_shared_drain(shared);
    take();
    assert_true(snapshot->is_draining);
}

/* --- Where time goes ----------------------------------------------------- */

TEST(shares_of_time_add_up_to_one)
{
    double sum;

    stats_set_cpu(&shared->workers[0].profile, 300, 1000);
    stats_set_cpu(&shared->workers[1].profile, 500, 1000);
    for (int i = 0; i < 30; i++)
        stats_note_sample(&shared->workers[i % 2].profile, STATS_PHASE_SEND);
    for (int i = 0; i < 10; i++)
        stats_note_sample(&shared->acceptor.profile, STATS_PHASE_ACCEPT);
    take();
    sum = snapshot->shares.idle;
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        sum += snapshot->shares.phases[i];
    assert_true(is_about(sum, 1));
    assert_true(is_about(snapshot->shares.idle, 0.6));
    assert_true(is_about(snapshot->shares.phases[STATS_PHASE_SEND], 0.3));
    assert_true(is_about(snapshot->shares.phases[STATS_PHASE_ACCEPT], 0.1));
}

TEST(without_samples_there_is_idle_time_alone)
{
    stats_set_cpu(&shared->workers[0].profile, 250, 1000);
    take();
    assert_true(is_about(snapshot->shares.idle, 0.75));
    assert_true(snapshot->shares.phases[STATS_PHASE_SEND] == 0);
}

TEST(shares_make_a_whole_before_the_first_sample)
{
    shared->options.is_profiled = true;
    take();
    assert_true(snapshot->shares.idle == 1);
    stats_set_cpu(&shared->workers[0].profile, 250, 1000);
    take();
    assert_true(snapshot->shares.idle == 1);
    stats_note_sample(&shared->workers[0].profile, STATS_PHASE_SEND);
    take();
    assert_true(is_about(snapshot->shares.idle, 0.75));
    assert_true(is_about(snapshot->shares.phases[STATS_PHASE_SEND], 0.25));
}

/* The two clocks are not read at one moment. */
TEST(more_processor_time_than_time_is_no_idle_time)
{
    stats_set_cpu(&shared->workers[0].profile, 1001, 1000);
    take();
    assert_true(snapshot->shares.idle == 0);
}

/* --- The slowest --------------------------------------------------------- */

TEST(the_slowest_of_all_workers_come_slowest_first)
{
    for (unsigned i = 0; i < 300; i++)
        sample_note(&shared->workers[i % WORKERS],
                    1 + (uint64_t)i * 7919 % 300);
    take();
    assert_int_equal(snapshot->slowest_count, SLOWEST_COUNT);
    for (unsigned i = 0; i < SLOWEST_COUNT; i++)
        assert_int_equal(snapshot->slowest[i].total_ns, 300 - i);
}

TEST(few_slow_ones_are_all_there)
{
    sample_note(&shared->workers[1], 10);
    sample_note(&shared->workers[0], 30);
    sample_note(&shared->workers[2], 20);
    take();
    assert_int_equal(snapshot->slowest_count, 3);
    assert_int_equal(snapshot->slowest[0].total_ns, 30);
    assert_int_equal(snapshot->slowest[1].total_ns, 20);
    assert_int_equal(snapshot->slowest[2].total_ns, 10);
}

TEST(without_memory_there_is_no_snapshot)
{
    allocations_left = 0;
    assert_null(stats_snapshot_create(shared));
    allocations_left = -1;
    stats_snapshot_destroy(NULL);
}

/* --- Workers and a reader ------------------------------------------------ */

enum { ROUNDS = 30000 };

static void *work(void *context)
{
    struct stats *stats = context;

    for (unsigned i = 0; i < ROUNDS; i++) {
        stats_note_open(stats);
        sample_note(stats, 1 + i);
        stats_set_queue(stats, i % 10, i % 100);
        stats_note_close(stats, i % STATS_CLOSE_COUNT);
        if (i % 1000 == 0)
            stats_tick(stats, (uint64_t)i * 100);
    }
    return NULL;
}

TEST(what_another_cache_would_hit_is_of_all_that_was_asked)
{
    struct miniature_told told = {.requests = 100, .bytes = 1000};

    told.misses[miniature_model(EVICT_GDSF, 1)] = 25;
    told.missed_bytes[miniature_model(EVICT_GDSF, 1)] = 100;
    take();
    assert_int_equal(snapshot->cache_told.requests, 0);
    stats_set_cache_if(&shared->workers[0], &told);
    told.misses[miniature_model(EVICT_GDSF, 1)] = 75;
    told.missed_bytes[miniature_model(EVICT_GDSF, 1)] = 2000; /* an estimate */
    stats_set_cache_if(&shared->workers[1], &told);
    take();
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        const struct stats_cache_if *one = &snapshot->cache_if[i];
        bool is_it = i == miniature_model(EVICT_GDSF, 1);

        assert_int_equal((int)(100 * one->hit_ratio + 0.5),
                         is_it ? (int)(100 * 0.5) : 100);
        assert_int_equal((int)(100 * one->byte_hit_ratio + 0.5),
                         is_it ? (int)(100 * 0) : 100);
    }
    assert_string_equal(snapshot->cache_if[7].policy, "gdsf");
    assert_string_equal(snapshot->cache_if[7].size, "1/2");
    assert_int_equal(snapshot->cache_if[7].bytes, 2048);
}

TEST(reading_while_workers_count_is_always_sound)
{
    pthread_t threads[WORKERS];
    uint64_t last = 0;
    unsigned faults = 0;

    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work,
                                        &shared->workers[i]),
                         0);
    do {
        take();
        faults += snapshot->requests < last;
        faults += snapshot->open > WORKERS * ROUNDS;
        faults += snapshot->total.min > snapshot->total.max;
        faults += distribution_quantile(&snapshot->total, 0.999) > ROUNDS;
        for (unsigned i = 1; i < snapshot->slowest_count; i++)
            faults += snapshot->slowest[i].total_ns >
                      snapshot->slowest[i - 1].total_ns;
        last = snapshot->requests;
    } while (last < WORKERS * ROUNDS);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(faults, 0);
    take();
    assert_int_equal(snapshot->requests, WORKERS * ROUNDS);
    assert_int_equal(snapshot->total.count, WORKERS * ROUNDS);
    assert_int_equal(snapshot->accepted, WORKERS * ROUNDS);
    assert_int_equal(snapshot->open, 0);
    assert_int_equal(snapshot->slowest[0].total_ns, ROUNDS);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
