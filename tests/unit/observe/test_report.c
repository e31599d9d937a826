#include "observe/report.h"

#include "suite.h"
#include "unit/observe/stats_fixture.h"

enum { COLUMNS = 80 };

static struct buf out;

static int set_up(void **state)
{
    struct stats_options options = sample_options(1);

    (void)state;
    use(&options);
    buf_init(&out, NULL, 0, REPORT_BYTES_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    use_none();
    return 0;
}

/* As a string. Its lines are whole and short enough. */
static const char *render(void)
{
    stats_read(shared, &sample_now, snapshot);
    snapshot->upstreams = &sample_upstreams;
    out.len = 0;
    report_put(&out, snapshot);
    buf_put(&out, (struct bytes){"", 1});
    assert_false(out.failed);
    for (const char *at = out.data; *at; at += strcspn(at, "\n") + 1) {
        assert_in_range(strcspn(at, "\n"), 0, COLUMNS);
        assert_int_equal(at[strcspn(at, "\n")], '\n');
        if (*at != '\n')
            assert_true(at[strcspn(at, "\n") - 1] != ' ');
    }
    return out.data;
}

static void expect_line(const char *line)
{
    const char *at = strstr(out.data, line);

    if (!at || (at > out.data && at[-1] != '\n') || at[strlen(line)] != '\n')
        fail_msg("no line '%s' in:\n%s", line, out.data);
}

TEST(it_says_what_it_is_of_what)
{
    render();
    expect_line("Server Statistic Report of sprintd 1.2.3");
    expect_line("up 0 h 0 min 1.2 s, 1 worker, schedule srpt");
    stats_shared_drain(shared);
    render();
    expect_line("up 0 h 0 min 1.2 s, 1 worker, schedule srpt, draining");
}

TEST(methods_and_statuses_are_totalled)
{
    for (unsigned i = 0; i < 12; i++) {
        struct stats_exchange exchange = sample_exchange(1000);

        exchange.method = i % 4 == 0;
        exchange.status = i % 3 == 0 ? 404 : 200;
        exchange.is_complete = i > 0;
        stats_note_exchange(stats, &exchange);
    }
    render();
    expect_line("  GET                                    9");
    expect_line("  HEAD                                   3");
    expect_line("  all                                   12");
    expect_line("  a second                            10.0");
    expect_line("  incomplete                             1");
    expect_line("  200                                    8");
    expect_line("  404                                    4");
    expect_line("  bytes received                      1200");
    expect_line("  bytes sent                         14400");
    assert_null(strstr(out.data, "OTHER"));
}

TEST(request_times_are_told_in_milliseconds)
{
    for (unsigned i = 1; i <= 4; i++)
        sample_note(stats, (uint64_t)i * i * SAMPLE_MS);
    render();
    expect_line("  total                             30.000");
    expect_line("  min                                1.000");
    expect_line("  median                             4.014"); /* 4, to 1 % */
    expect_line("  mean                               7.500");
    expect_line("  max                               16.000");
}

TEST(the_table_has_a_row_for_each_time_and_size)
{
    for (unsigned i = 0; i < 100; i++) {
        struct stats_exchange exchange = sample_exchange(2 * SAMPLE_MS);

        exchange.body_bytes = i < 99 ? 10 : 2000000;
        stats_note_exchange(stats, &exchange);
    }
    render();
    expect_line("Times in ms       count     min    mean  median     p90     "
                "p99   p99.9     max");
    expect_line("  wait              100   1.000   1.000   1.000   1.000   "
                "1.000   1.000   1.000");
    expect_line("  service           100   0.500   0.500   0.500   0.500   "
                "0.500   0.500   0.500");
    expect_line("  total             100   2.000   2.000   2.000   2.000   "
                "2.000   2.000   2.000");
    expect_line("  to 1 KiB           99   1.000   1.000   1.000   1.000   "
                "1.000   1.000   1.000");
    expect_line("  larger              1   2.000   2.000   2.000   2.000   "
                "2.000   2.000   2.000");
    assert_null(strstr(out.data, "to 10 KiB"));
    assert_null(strstr(out.data, "\n  unsent"));
    stats_note_unsent(stats, 5 * SAMPLE_MS);
    render();
    expect_line("  unsent              1   5.000   5.000   5.000   5.000   "
                "5.000   5.000   5.000");
}

TEST(the_rest_is_told_when_there_is_something_to_tell)
{
    struct stats_options options = sample_options(1);

    render();
    assert_null(strstr(out.data, "Cache"));
    assert_null(strstr(out.data, "Link"));
    assert_null(strstr(out.data, "log"));
    assert_null(strstr(out.data, "\n  idle"));
    options.is_profiled = true;
    use(&options);
    stats_note_open(stats);
    stats_note_close(stats, STATS_CLOSE_CLIENT);
    stats_note_refused(&shared->acceptor, STATS_REFUSAL_LIMIT);
    stats_set_cache(stats, &(struct stats_cache){.hits = 3,
                                                 .misses = 1,
                                                 .evictions = 2,
                                                 .bytes = 4000,
                                                 .entries = 5});
    stats_set_queue(stats, 6, 600);
    stats_set_link(stats,
                   &(struct stats_link){true, 5, 500, 50, 4096, 125000, 70});
    counter_add(&stats->log.lines, 8);
    stats_set_cpu(&stats->profile, 250, 1000);
    stats_note_sample(&stats->profile, STATS_PHASE_PARSE);
    render();
    expect_line("  accepted                               1");
    expect_line("  closed: client                         1");
    expect_line("  refused: limit                         1");
    expect_line("Cache, policy sieve");
    expect_line("  hit ratio                         75.0 %");
    expect_line("  depth at most                          6");
    expect_line("Link, mode auto, engaged");
    expect_line("  limit, bytes                        4096");
    expect_line("  lines                                  8");
    expect_line("  parse                             25.0 %");
    expect_line("  idle                              75.0 %");
}

TEST(upstreams_are_told_with_their_state)
{
    render();
    expect_line("Upstreams                                  state  requests  "
                "failures   retries");
    expect_line("  /           192.0.2.2:9000                  up        30    "
                "     4         5");
    expect_line("  /app        unix:/run/a\"b              ejected  1.84e+19  "
                "1.84e+19  1.84e+19");
}

TEST(columns_hold_however_large_the_numbers_are)
{
    struct stats_options options = sample_options(1);

    options.is_profiled = true;
    use(&options);
    for (unsigned bit = 0; bit < 64; bit++) {
        struct stats_exchange exchange = sample_exchange(UINT64_MAX >>
                                                         (63 - bit));

        exchange.body_bytes = UINT64_MAX >> (63 - bit);
        stats_note_exchange(stats, &exchange);
        stats_note_unsent(stats, exchange.total_ns);
        render();
    }
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++)
        counter_set(&stats->statuses[i], UINT64_MAX);
    for (unsigned i = 0; i < SAMPLE_METHODS; i++)
        counter_set(&stats->methods[i], UINT64_MAX / SAMPLE_METHODS);
    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++)
        counter_set(&stats->closed[i], UINT64_MAX);
    counter_set(&stats->service.buckets[1000], UINT64_MAX / 2);
    counter_set(&stats->bytes_in, UINT64_MAX);
    stats_set_queue(stats, UINT64_MAX, UINT64_MAX);
    stats_set_link(stats,
                   &(struct stats_link){true, 1, UINT64_MAX, 1, UINT64_MAX,
                                        UINT64_MAX, UINT64_MAX});
    render();
    expect_line("  bytes received      18446744073709551615");
}

SUITE(.each_begin = set_up, .each_end = tear_down);
