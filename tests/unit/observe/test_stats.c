/* link: -Wl,--wrap=mmap */
#include "observe/stats.h"

#include <sys/mman.h>

#include "suite.h"
#include "unit/observe/sample_stats.h"
#include "wrap.h"

static bool has_memory = true;

WRAP(void *, mmap, void *at, size_t len, int protection, int flags, int fd,
     off_t offset)
{
    return has_memory ? __real_mmap(at, len, protection, flags, fd, offset)
                      : MAP_FAILED;
}

static struct stats_shared *shared;
static struct stats *stats;

static int set_up(void **state)
{
    struct stats_options options = sample_options(2);

    (void)state;
    has_memory = true;
    shared = stats_shared_create(&options, &sample_began);
    stats = shared ? &shared->workers[0] : NULL;
    return shared ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    stats_shared_destroy(shared);
    return 0;
}

static uint64_t count_in(const struct histogram *histogram)
{
    static struct distribution distribution;

    distribution = (struct distribution){0};
    histogram_add_to(histogram, &distribution);
    return distribution.count;
}

/* --- Names ---------------------------------------------------------------- */

TEST(every_name_is_another)
{
    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++)
        for (unsigned n = 0; n < i; n++)
            assert_string_not_equal(stats_close_name(i), stats_close_name(n));
    for (unsigned i = 0; i < STATS_REFUSAL_COUNT; i++)
        for (unsigned n = 0; n < i; n++)
            assert_string_not_equal(stats_refusal_name(i),
                                    stats_refusal_name(n));
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        for (unsigned n = 0; n < i; n++)
            assert_string_not_equal(stats_phase_name(i), stats_phase_name(n));
}

TEST(a_size_belongs_to_the_first_class_that_holds_it)
{
    assert_int_equal(stats_size(0), 0);
    for (unsigned i = 0; i < STATS_SIZE_COUNT - 1; i++) {
        assert_int_equal(stats_size(stats_size_bound(i)), i);
        assert_int_equal(stats_size(stats_size_bound(i) + 1), i + 1);
    }
    assert_true(stats_size_bound(STATS_SIZE_COUNT - 1) == UINT64_MAX);
    assert_int_equal(stats_size(UINT64_MAX), STATS_SIZE_COUNT - 1);
}

/* --- Exchanges ------------------------------------------------------------ */

TEST(an_exchange_is_counted_in_each_place_once)
{
    struct stats_exchange exchange = sample_exchange(4000);

    exchange.method = 2;
    exchange.status = 404;
    exchange.body_bytes = 2000;
    stats_note_exchange(stats, &exchange);
    assert_int_equal(counter_read(&stats->methods[2]), 1);
    assert_int_equal(counter_read(&stats->methods[0]), 0);
    assert_int_equal(counter_read(&stats->statuses[404 - 100]), 1);
    assert_int_equal(counter_read(&stats->statuses[200 - 100]), 0);
    assert_int_equal(counter_read(&stats->bytes_in), 100);
    assert_int_equal(counter_read(&stats->bytes_out), 1200);
    assert_int_equal(counter_read(&stats->incomplete), 0);
    assert_int_equal(count_in(&stats->service), 1);
    assert_int_equal(count_in(&stats->sizes[0].wait), 0);
    assert_int_equal(count_in(&stats->sizes[0].total), 0);
    assert_int_equal(count_in(&stats->sizes[1].wait), 1);
    assert_int_equal(count_in(&stats->sizes[1].total), 1);
    assert_int_equal(count_in(&stats->unsent), 0);
}

TEST(one_given_up_is_counted_but_not_timed)
{
    struct slow_request slow[2 * SLOWEST_COUNT];
    struct stats_exchange exchange = sample_exchange(UINT64_MAX);

    exchange.is_complete = false;
    exchange.status = 0;
    exchange.target = (struct bytes){NULL, 0};
    exchange.peer = NULL;
    stats_note_exchange(stats, &exchange);
    assert_int_equal(counter_read(&stats->methods[0]), 1);
    assert_int_equal(counter_read(&stats->incomplete), 1);
    assert_int_equal(counter_read(&stats->bytes_out), 1200);
    assert_int_equal(count_in(&stats->service), 0);
    assert_int_equal(count_in(&stats->sizes[0].total), 0);
    assert_int_equal(slowest_read(&stats->slowest, slow), 0);
}

TEST(an_endless_one_is_neither_given_up_nor_timed)
{
    struct slow_request slow[2 * SLOWEST_COUNT];
    struct stats_exchange exchange = sample_exchange(UINT64_MAX);

    exchange.is_endless = true;
    for (unsigned ended = 0; ended < 2; ended++) {
        exchange.is_complete = ended;
        stats_note_exchange(stats, &exchange);
    }
    assert_int_equal(counter_read(&stats->methods[0]), 2);
    assert_int_equal(counter_read(&stats->statuses[exchange.status - 100]), 2);
    assert_int_equal(counter_read(&stats->bytes_out), 2 * 1200);
    assert_int_equal(counter_read(&stats->incomplete), 0);
    assert_int_equal(count_in(&stats->service), 0);
    assert_int_equal(count_in(&stats->sizes[0].total), 0);
    assert_int_equal(slowest_read(&stats->slowest, slow), 0);
}

TEST(a_status_beyond_the_table_is_not_counted)
{
    static const unsigned beyond[] = {0, 99, 600, UINT32_MAX};
    static const unsigned within[] = {100, 599};

    for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
        struct stats_exchange exchange = sample_exchange(1000);

        exchange.status = beyond[i];
        stats_note_exchange(stats, &exchange);
    }
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++)
        assert_int_equal(counter_read(&stats->statuses[i]), 0);
    for (size_t i = 0; i < sizeof(within) / sizeof(*within); i++) {
        struct stats_exchange exchange = sample_exchange(1000);

        exchange.status = within[i];
        stats_note_exchange(stats, &exchange);
    }
    assert_int_equal(counter_read(&stats->statuses[0]), 1);
    assert_int_equal(counter_read(&stats->statuses[STATS_STATUS_COUNT - 1]), 1);
    assert_int_equal(counter_read(&stats->methods[0]), 6);
}

TEST(a_slow_one_is_kept_with_all_that_is_known)
{
    struct slow_request slow[2 * SLOWEST_COUNT];
    struct stats_exchange exchange = sample_exchange(5000000);

    exchange.method = 1;
    exchange.target = BYTES("/a/b?c");
    stats_note_exchange(stats, &exchange);
    assert_int_equal(slowest_read(&stats->slowest, slow), 1);
    assert_int_equal(slow->wall_ns, sample_now.wall_ns);
    assert_int_equal(slow->total_ns, 5000000);
    assert_int_equal(slow->wait_ns, 2500000);
    assert_int_equal(slow->body_bytes, 1024);
    assert_int_equal(slow->status, 200);
    assert_int_equal(slow->method, 1);
    assert_int_equal(slow->target_len, 4); /* without its query */
    assert_memory_equal(slow->target, "/a/b", 5);
    assert_memory_equal(slow->peer.octets, sample_peer.octets, 16);
    assert_int_equal(slow->peer.family, ADDRESS_IPV4);
}

TEST(a_long_target_is_cut)
{
    struct slow_request slow[2 * SLOWEST_COUNT];
    char target[SLOWEST_TARGET_MAX + 200];

    for (size_t i = 0; i < sizeof(target); i++)
        target[i] = (char)('a' + i % 26);
    for (size_t len = SLOWEST_TARGET_MAX - 1; len <= sizeof(target);
         len += len > SLOWEST_TARGET_MAX ? 199 : 1) {
        struct stats_exchange exchange = sample_exchange(1000);
        size_t kept = len < SLOWEST_TARGET_MAX ? len : SLOWEST_TARGET_MAX;

        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
        exchange.target = (struct bytes){target, len};
        stats_note_exchange(stats, &exchange);
        assert_int_equal(slowest_read(&stats->slowest, slow), 1);
        assert_int_equal(slow->target_len, kept);
        assert_memory_equal(slow->target, target, kept);
    }
}

TEST(slow_ones_are_forgotten_as_time_goes_by)
{
    struct slow_request slow[2 * SLOWEST_COUNT];

    stats_tick(stats, 1000000);
    sample_note(stats, 1000);
    stats_tick(stats, 1060000);
    assert_int_equal(slowest_read(&stats->slowest, slow), 1);
    stats_tick(stats, 1120000);
    assert_int_equal(slowest_read(&stats->slowest, slow), 0);
}

/* --- The rest ------------------------------------------------------------ */

TEST(the_queue_remembers_its_greatest_depth)
{
    stats_set_queue(stats, 3, 3000);
    stats_set_queue(stats, 9, 9000);
    stats_set_queue(stats, 1, 50);
    assert_int_equal(counter_read(&stats->queue_depth), 1);
    assert_int_equal(counter_read(&stats->queue_bytes), 50);
    assert_int_equal(counter_read(&stats->queue_depth_max), 9);
}

TEST(each_worker_has_cache_lines_of_its_own)
{
    assert_int_equal((uintptr_t)&shared->workers[0] % 64, 0);
    assert_int_equal(sizeof(struct stats) % 64, 0);
    assert_int_equal((uintptr_t)&shared->acceptor % 64, 0);
    assert_int_equal((uintptr_t)&shared->log % 64, 0);
    assert_true((char *)&shared->log >= (char *)(&shared->acceptor + 1));
    assert_true((char *)&shared->workers[0] >= (char *)(&shared->log + 1));
}

static long count_resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    char line[128] = "";
    char *at;

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    strtol(line, &at, 10);
    return strtol(at, NULL, 10);
}

TEST(workers_that_count_nothing_cost_no_memory)
{
    struct stats_options options = sample_options(1024);
    long before = count_resident_pages();
    struct stats_shared *many = stats_shared_create(&options, &sample_began);

    assert_non_null(many);
    sample_note(&many->workers[1023], 1000);
    assert_int_equal(counter_read(&many->workers[1023].bytes_in), 100);
    /* Of 230 MiB; a sanitizer's shadow takes some. */
    assert_in_range(count_resident_pages(), 0, before + 1000);
    stats_shared_destroy(many);
}

TEST(without_memory_there_are_no_statistics)
{
    struct stats_options options = sample_options(2);

    has_memory = false;
    assert_null(stats_shared_create(&options, &sample_began));
    has_memory = true;
    stats_shared_destroy(NULL);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
