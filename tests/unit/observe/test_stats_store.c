#include "observe/stats_store.h"

#include "json_check.h"
#include "observe/history.h"
#include "observe/metrics.h"
#include "observe/report.h"
#include "observe/stats_rows.h"
#include "observe/status_json.h"
#include "suite.h"
#include "unit/observe/sample_stats.h"

static struct stats_shared *shared;
static struct stats_snapshot *snapshot;
static struct buf out;

/* Each number of the first store is its own, 100 more in the second worker;
 * the second store has counted one get. */
static int set_up(void **state)
{
    struct stats_options options = sample_options(2);

    (void)state;
    shared = stats_shared_create(&options, &sample_began);
    assert_non_null(shared);
    snapshot = stats_snapshot_create(shared);
    assert_non_null(snapshot);
    for (unsigned i = 0; i < STATS_STORE_COUNTED; i++) {
        stats_store_note(&shared->workers[0].stores[0], i, 1000 + i);
        stats_store_note(&shared->workers[1].stores[0], i, 100);
    }
    for (unsigned i = STATS_STORE_COUNTED; i < STATS_STORE_NUMBERS; i++)
        stats_store_set(&shared->stores[0], i, 2000 + i);
    stats_store_note(&shared->workers[1].stores[1], STATS_STORE_FOUND, 1);
    stats_read(shared, &sample_now, snapshot);
    buf_init(&out, NULL, 0, STATUS_JSON_BYTES_MAX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    return 0;
}

static uint64_t expected(unsigned number)
{
    return number < STATS_STORE_COUNTED ? 1100 + number : 2000 + number;
}

/* The row of a number. */
static const struct stats_row *row_of(unsigned number)
{
    const struct stats_row *row = NULL;

    do
        row = stats_row_next(STATS_PART_STORE, row);
    while (row && row->offset != number * sizeof(uint64_t));
    assert_non_null(row);
    return row;
}

static const char *text(void)
{
    buf_put(&out, (struct bytes){"", 1});
    assert_false(out.failed);
    return out.data;
}

static void expect_line(const char *line)
{
    const char *at = strstr(out.data, line);

    if (!at || at == out.data || at[-1] != '\n' || at[strlen(line)] != '\n')
        fail_msg("no line '%s' in:\n%s", line, out.data);
}

TEST(workers_and_the_store_are_summed)
{
    for (unsigned i = 0; i < STATS_STORE_NUMBERS; i++)
        assert_int_equal(snapshot->stores[0][i], expected(i));
    assert_int_equal(snapshot->stores[1][STATS_STORE_FOUND], 1);
    assert_int_equal(snapshot->stores[1][STATS_STORE_MISSING], 0);
}

TEST(the_report_has_a_part_for_each)
{
    char line[80];

    report_put(&out, snapshot);
    text();
    expect_line("Store /kv, engine lmdb");
    expect_line("Store /far, engine redis");
    for (unsigned i = 0; i < STATS_STORE_NUMBERS; i++) {
        snprintf(line, sizeof(line), "  %-20s%20llu", row_of(i)->label,
                 (unsigned long long)expected(i));
        expect_line(line);
    }
    expect_line("  writes a commit                      1.0");
    /* What is not known of the second is not told. */
    assert_null(strstr(strstr(out.data, "Store /far"), "commit"));
}

TEST(the_longest_prefix_keeps_the_report_narrow)
{
    struct stats_store_options store = {.engine = "lmdb"};
    const char *line;

    memset(store.prefix, 'x', sizeof(store.prefix) - 1);
    snapshot->options.stores = &store;
    snapshot->options.store_count = 1;
    report_put(&out, snapshot);
    line = strstr(text(), "Store x");
    assert_non_null(line);
    assert_in_range(strcspn(line, "\n"), 60, 80);
}

TEST(the_json_has_what_each_knows)
{
    struct history *history = history_create();
    struct bytes value;
    char path[60], number[24];

    assert_non_null(history);
    status_json_put(&out, snapshot, history);
    history_destroy(history);
    assert_false(out.failed);
    for (unsigned i = 0; i < STATS_STORE_NUMBERS; i++) {
        snprintf(path, sizeof(path), "stores.0.%s", row_of(i)->name);
        snprintf(number, sizeof(number), "%llu",
                 (unsigned long long)expected(i));
        value = json_at(buf_bytes(&out), path);
        assert_true(value.data && bytes_eq(value, bytes_of(number)));
        snprintf(path, sizeof(path), "stores.1.%s", row_of(i)->name);
        assert_int_equal(json_at(buf_bytes(&out), path).data != NULL,
                         i < STATS_STORE_COUNTED);
    }
    value = json_at(buf_bytes(&out), "stores.1.engine");
    assert_true(value.data && bytes_eq(value, BYTES("\"redis\"")));
}

TEST(metrics_have_a_line_for_each_that_knows)
{
    metrics_put(&out, snapshot, METRICS_OPENMETRICS);
    text();
    expect_line("# TYPE sprintd_kv_gets counter");
    expect_line("sprintd_kv_gets_total{store=\"/kv\",result=\"found\"} 1100");
    expect_line("sprintd_kv_gets_total{store=\"/kv\",result=\"missing\"} 1101");
    expect_line("sprintd_kv_gets_total{store=\"/far\",result=\"found\"} 1");
    expect_line("# TYPE sprintd_kv_map_bytes gauge");
    expect_line("# UNIT sprintd_kv_map_bytes bytes");
    expect_line("sprintd_kv_map_bytes{store=\"/kv\"} 2015");
    assert_null(strstr(out.data, "sprintd_kv_map_bytes{store=\"/far\"}"));
}

TEST(without_stores_there_is_no_word_of_them)
{
    snapshot->options.store_count = 0;
    metrics_put(&out, snapshot, METRICS_PROMETHEUS);
    report_put(&out, snapshot);
    text();
    assert_null(strstr(out.data, "kv_"));
    assert_null(strstr(out.data, "Store"));
}

TEST(a_figure_nobody_has_is_no_metric)
{
    snapshot->options.stores = &sample_stores[1];
    snapshot->options.store_count = 1;
    metrics_put(&out, snapshot, METRICS_PROMETHEUS);
    text();
    assert_non_null(strstr(out.data, "sprintd_kv_gets_total"));
    assert_null(strstr(out.data, "sprintd_kv_keys"));
}

SUITE(.each_begin = set_up, .each_end = tear_down);
