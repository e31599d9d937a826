#include "observe/stats_rows.h"

#include "json_check.h"
#include "observe/history.h"
#include "observe/metrics.h"
#include "observe/report.h"
#include "observe/status_json.h"
#include "suite.h"
#include "unit/observe/sample_stats.h"

enum { PARTS = STATS_PART_POINT + 1 };

/* --- The table ----------------------------------------------------------- */

static bool is_same(const char *text, const char *other)
{
    return text && other && strcmp(text, other) == 0;
}

TEST(a_name_or_metric_comes_once)
{
    for (unsigned part = 0; part < PARTS; part++) {
        const struct stats_row *row = NULL;

        while ((row = stats_row_next(part, row))) {
            const struct stats_row *other = row;

            while ((other = stats_row_next(part, other))) {
                assert_false(is_same(row->name, other->name));
                assert_false(is_same(row->label, other->label));
            }
            for (unsigned later = part + 1; later < PARTS; later++)
                while ((other = stats_row_next(later, other)))
                    assert_false(is_same(row->metric, other->metric));
        }
    }
}

TEST(rows_of_a_metric_stand_together_and_the_first_explains)
{
    for (unsigned part = 0; part < PARTS; part++) {
        const struct stats_row *before = NULL;
        const struct stats_row *row = NULL;

        for (; (row = stats_row_next(part, row)); before = row) {
            const struct stats_row *earlier = NULL;
            bool is_first = true;

            while ((earlier = stats_row_next(part, earlier)) != row) {
                if (!is_same(earlier->metric, row->metric))
                    continue;
                is_first = false;
                assert_true(is_same(before->metric, row->metric));
                assert_non_null(row->key);
                assert_non_null(earlier->key);
            }
            assert_int_equal(row->metric && is_first, row->help != NULL);
        }
    }
}

TEST(labels_fit_the_report)
{
    for (unsigned part = 0; part < PARTS; part++)
        for (const struct stats_row *row = NULL;
             (row = stats_row_next(part, row));)
            assert_true(!row->label || strlen(row->label) < 21);
}

/* From 1 on, none missing and none twice. */
TEST(places_of_a_line_are_counted_through)
{
    for (unsigned part = 0; part < PARTS; part++) {
        const struct stats_row *row = NULL;
        unsigned seen = 0;
        unsigned shown = 0;

        while ((row = stats_row_next(part, row))) {
            if (row->top.position == 0)
                continue;
            assert_non_null(row->top.text);
            assert_false(seen & (1u << row->top.position));
            seen |= 1u << row->top.position;
            shown++;
        }
        assert_int_equal(seen, (1u << (shown + 1)) - 2);
    }
}

/* --- What the views make of it ------------------------------------------- */

/* Where the number of a row lies in what is shown of. */
static uint64_t *find_number(const struct stats_row *row,
                             struct stats_snapshot *snapshot)
{
    char *base = (char *)snapshot;

    if (row->part == STATS_PART_CACHE_IF)
        base = (char *)&snapshot->cache_if[0];
    if (row->part == STATS_PART_WORKER)
        base = (char *)&snapshot->workers[0];
    if (row->part == STATS_PART_STORE)
        base = (char *)snapshot->stores[0];
    return (void *)(base + row->offset);
}

static bool is_number(const struct stats_row *row)
{
    return (row->kind == STATS_KIND_COUNTER || row->kind == STATS_KIND_GAUGE) &&
           row->part < STATS_PART_UPSTREAM &&
           (row->unit == STATS_UNIT_NUMBER || row->unit == STATS_UNIT_BYTES ||
            row->unit == STATS_UNIT_BYTES_A_SECOND) &&
           row->offset != offsetof(struct stats_snapshot, options.worker_count);
}

/* The number is shown by each view that the row has a text for. */
static void expect_shown(const struct stats_row *row,
                         const struct stats_snapshot *snapshot,
                         struct history *history, const char *number)
{
    struct buf out;
    char line[128];

    buf_init(&out, NULL, 0, METRICS_BYTES_MAX);
    report_put(&out, snapshot);
    buf_put(&out, (struct bytes){"", 1});
    snprintf(line, sizeof(line), "\n  %-20s%20s\n",
             row->label ? row->label : "", number);
    assert_true(!row->label || strstr(out.data, line));
    out.len = 0;
    metrics_put(&out, snapshot, METRICS_PROMETHEUS);
    buf_put(&out, (struct bytes){"", 1});
    snprintf(line, sizeof(line), " %s\n", number);
    assert_int_equal(row->metric != NULL, strstr(out.data, line) != NULL);
    out.len = 0;
    status_json_put(&out, snapshot, history);
    assert_true(json_is_valid_bytes(buf_bytes(&out)));
    buf_put(&out, (struct bytes){"", 1});
    snprintf(line, sizeof(line), "\"%s\":%s", row->name ? row->name : "",
             number);
    assert_int_equal(row->name != NULL, strstr(out.data, line) != NULL);
    buf_fini(&out);
}

TEST(each_view_shows_every_number_that_it_has_a_text_for)
{
    static const char number[] = "9876543210987654321";
    struct stats_options options = sample_options(1);
    struct stats_shared *shared = stats_shared_create(&options, &sample_began);
    struct stats_snapshot *snapshot = stats_snapshot_create(shared);
    struct history *history = history_create();
    unsigned shown = 0;

    stats_set_cache_if(&shared->workers[0],
                       &(struct miniature_told){.requests = 1, .bytes = 1});
    stats_read(shared, &sample_now, snapshot);
    snapshot->hit_ratio = 1; /* else the report leaves these parts out */
    for (unsigned part = 0; part < PARTS; part++) {
        const struct stats_row *row = NULL;

        while ((row = stats_row_next(part, row))) {
            if (!is_number(row))
                continue;
            snapshot->link.held = snapshot->log_lines = 1;
            *find_number(row, snapshot) = strtoull(number, NULL, 10);
            expect_shown(row, snapshot, history, number);
            *find_number(row, snapshot) = 0;
            shown++;
        }
    }
    assert_in_range(shown, 50, 200);
    history_destroy(history);
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
}
