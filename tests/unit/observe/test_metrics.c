#include "observe/metrics.h"

#include <math.h>

#include "suite.h"
#include "unit/draw.h"
#include "unit/observe/stats_fixture.h"

enum { FAMILIES_MAX = 120, NAME_MAX_LEN = 100 };

static struct buf out;
static struct stats_upstreams upstreams; /* a copy of the sample's, or empty */

static int set_up(void **state)
{
    struct stats_options options = sample_options(2);

    (void)state;
    options.is_profiled = true;
    use(&options);
    buf_init(&out, NULL, 0, METRICS_BYTES_MAX);
    upstreams = sample_upstreams;
    draw_seed = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    use_none();
    return 0;
}

/* As a string. */
static const char *render(enum metrics_format format)
{
    stats_read(shared, &sample_now, snapshot);
    snapshot->upstreams = &upstreams;
    out.len = 0;
    metrics_put(&out, snapshot, format);
    buf_put(&out, (struct bytes){"", 1});
    assert_false(out.failed);
    return out.data;
}

/* The value of the line that begins so; NAN when there is none or two. */
static double value_of(const char *text, const char *series)
{
    size_t len = strlen(series);
    double value = (double)NAN;
    unsigned found = 0;

    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, series, len) == 0 && at[len] == ' ') {
            value = strtod(at + len, NULL);
            found++;
        }
    }
    return found == 1 ? value : (double)NAN;
}

static void expect(enum metrics_format format, const char *series, double value)
{
    double got = value_of(render(format), series);

    if (!(fabs(got - value) <= value * 1e-12))
        fail_msg("%s is %.17g and not %.17g", series, got, value);
}

static void fill(void)
{
    for (unsigned i = 0; i < 3000; i++) {
        struct stats_exchange exchange = sample_exchange(1 + (draw_bits() >>
                                                              (26 + draw(30))));

        exchange.method = draw(SAMPLE_METHODS);
        exchange.status = 200 + draw(5);
        exchange.body_bytes = draw_bits() >> (40 + draw(24));
        stats_note_exchange(&shared->workers[i % 2], &exchange);
        stats_note_unsent(stats, exchange.total_ns);
    }
    stats_note_open(stats);
    sample_cache_and_link(stats);
    stats_set_cpu(&stats->profile, 250000000, 1000000000);
    stats_note_sample(&stats->profile, STATS_PHASE_SEND);
}

/* --- Line by line -------------------------------------------------------- */

/* What is known of the family that is being read. */
struct reader {
    const char *at;
    enum metrics_format format;
    char names[FAMILIES_MAX][NAME_MAX_LEN];
    size_t count;
    char type[16];
    bool has_help;
    unsigned samples;
    /* of the histogram series under way */
    double last_le;
    double last_bucket;
    double inf_bucket;
};

static bool take_text(struct reader *reader, const char *text)
{
    size_t len = strlen(text);

    if (strncmp(reader->at, text, len) != 0)
        return false;
    reader->at += len;
    return true;
}

static void take_name(struct reader *reader, char name[NAME_MAX_LEN])
{
    size_t len = strspn(reader->at, "abcdefghijklmnopqrstuvwxyz_0123456789");

    assert_in_range(len, 1, NAME_MAX_LEN - 1);
    memcpy(name, reader->at, len);
    name[len] = '\0';
    reader->at += len;
}

/* A family's lines are together, TYPE first, and never come again. */
static void take_meta(struct reader *reader)
{
    char name[NAME_MAX_LEN];

    if (take_text(reader, "TYPE ")) {
        take_name(reader, name);
        assert_true(reader->count == 0 || reader->samples > 0);
        assert_true(reader->count == 0 || reader->has_help);
        for (size_t i = 0; i < reader->count; i++)
            assert_string_not_equal(reader->names[i], name);
        assert_true(reader->count < FAMILIES_MAX);
        strncpy(reader->names[reader->count++], name, NAME_MAX_LEN);
        assert_true(take_text(reader, " "));
        take_name(reader, name);
        assert_in_range(strlen(name), 4, sizeof(reader->type) - 1);
        snprintf(reader->type, sizeof(reader->type), "%.*s",
                 (int)sizeof(reader->type) - 1, name);
        reader->has_help = false;
        reader->samples = 0;
        return;
    }
    if (take_text(reader, "HELP ")) {
        reader->has_help = true;
    } else {
        assert_true(take_text(reader, "UNIT "));
        assert_int_equal(reader->format, METRICS_OPENMETRICS);
    }
    take_name(reader, name);
    assert_string_equal(name, reader->names[reader->count - 1]);
    assert_true(take_text(reader, " "));
    reader->at += strcspn(reader->at, "\n");
}

/* Leaves what `le` says, or -1. */
static double take_labels(struct reader *reader)
{
    double le = -1;

    if (!take_text(reader, "{"))
        return le;
    do {
        char name[NAME_MAX_LEN];

        take_name(reader, name);
        assert_true(take_text(reader, "=\""));
        if (strcmp(name, "le") == 0)
            le = strtod(reader->at, NULL);
        while (*reader->at != '"') {
            assert_true(*reader->at != '\n' && *reader->at != '\0');
            if (*reader->at == '\\') {
                reader->at++;
                assert_non_null(strchr("\\\"n", *reader->at));
            }
            reader->at++;
        }
        reader->at++;
    } while (take_text(reader, ","));
    assert_true(take_text(reader, "}"));
    return le;
}

static void check_bucket(struct reader *reader, double le, double value)
{
    assert_true(le > reader->last_le);
    assert_true(value >= reader->last_bucket);
    reader->last_le = le;
    reader->last_bucket = value;
    if (isinf(le)) {
        reader->inf_bucket = value;
        reader->last_le = -1;
        reader->last_bucket = 0;
    }
}

static void take_sample(struct reader *reader)
{
    const char *family = reader->names[reader->count - 1];
    bool is_open = reader->format == METRICS_OPENMETRICS;
    char name[NAME_MAX_LEN];
    const char *suffix;
    char *end;
    double le;
    double value;

    take_name(reader, name);
    assert_int_equal(strncmp(name, family, strlen(family)), 0);
    suffix = name + strlen(family);
    le = take_labels(reader);
    assert_true(take_text(reader, " "));
    value = strtod(reader->at, &end);
    assert_true(end > reader->at && value >= 0 && isfinite(value));
    reader->at = end;
    reader->samples++;
    if (strcmp(reader->type, "counter") == 0) {
        assert_string_equal(suffix, is_open ? "_total" : "");
        assert_string_equal(name + strlen(name) - 6, "_total");
    } else if (strcmp(reader->type, "gauge") == 0) {
        assert_string_equal(suffix, "");
    } else if (strcmp(reader->type, "info") == 0) {
        assert_true(is_open);
        assert_string_equal(suffix, "_info");
    } else {
        assert_string_equal(reader->type, "histogram");
        assert_int_equal(strcmp(suffix, "_bucket") == 0, le != -1);
        if (le != -1)
            check_bucket(reader, le, value);
        else if (strcmp(suffix, "_count") == 0)
            assert_true(value == reader->inf_bucket);
        else
            assert_string_equal(suffix, "_sum");
    }
}

static void check(enum metrics_format format)
{
    static struct reader reader;
    bool has_ended = false;

    reader = (struct reader){
        .at = render(format), .format = format, .last_le = -1};
    while (*reader.at) {
        assert_false(has_ended);
        if (take_text(&reader, "# EOF"))
            has_ended = true;
        else if (take_text(&reader, "# "))
            take_meta(&reader);
        else
            take_sample(&reader);
        assert_true(take_text(&reader, "\n"));
    }
    assert_true(reader.count > 30);
    assert_true(reader.samples > 0);
    assert_int_equal(has_ended, format == METRICS_OPENMETRICS);
}

TEST(both_formats_keep_their_grammar_when_nothing_was_counted)
{
    check(METRICS_PROMETHEUS);
    check(METRICS_OPENMETRICS);
}

TEST(both_formats_keep_their_grammar_when_much_was)
{
    fill();
    check(METRICS_PROMETHEUS);
    check(METRICS_OPENMETRICS);
}

TEST(media_types_name_the_versions)
{
    assert_string_equal(metrics_media_type(METRICS_PROMETHEUS),
                        "text/plain; version=0.0.4; charset=utf-8");
    assert_string_equal(
        metrics_media_type(METRICS_OPENMETRICS),
        "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

/* --- Values -------------------------------------------------------------- */

TEST(values_are_those_counted_in_both_formats)
{
    static const struct {
        const char *series;
        double value;
    } wanted[] = {
        {"sprintd_build_info{version=\"1.2.3\",schedule=\"srpt\"}", 1},
        {"sprintd_start_time_seconds", 1763750000.123},
        {"sprintd_uptime_seconds", 1.2},
        {"sprintd_draining", 0},
        {"sprintd_workers", 2},
        {"sprintd_requests_total{method=\"HEAD\"}", 2},
        {"sprintd_requests_total{method=\"GET\"}", 0},
        {"sprintd_responses_total{code=\"200\"}", 0},
        {"sprintd_responses_total{code=\"304\"}", 1},
        {"sprintd_responses_incomplete_total", 1},
        {"sprintd_received_bytes_total", 200},
        {"sprintd_sent_bytes_total", 2400},
        {"sprintd_request_duration_seconds_sum{size=\"10KiB\"}", 0.002},
        {"sprintd_request_duration_seconds_count{size=\"10KiB\"}", 1},
        {"sprintd_request_duration_seconds_count{size=\"1KiB\"}", 0},
        {"sprintd_request_wait_seconds_sum{size=\"10KiB\"}", 0.001},
        {"sprintd_response_service_seconds_sum", 0.0005},
        {"sprintd_response_unsent_seconds_sum", 0.75},
        {"sprintd_response_unsent_seconds_bucket{le=\"0.5\"}", 0},
        {"sprintd_response_unsent_seconds_bucket{le=\"1.0\"}", 1},
        {"sprintd_response_unsent_seconds_bucket{le=\"+Inf\"}", 1},
        {"sprintd_connections_accepted_total", 2},
        {"sprintd_connections_closed_total{reason=\"idle\"}", 1},
        {"sprintd_connections_refused_total{reason=\"descriptors\"}", 1},
        {"sprintd_connections_open{worker=\"0\"}", 0},
        {"sprintd_connections_open{worker=\"1\"}", 1},
        {"sprintd_worker_requests_total{worker=\"1\"}", 2},
        {"sprintd_queue_depth{worker=\"1\"}", 3},
        {"sprintd_queue_depth_max{worker=\"1\"}", 9},
        {"sprintd_queue_bytes{worker=\"1\"}", 30},
        {"sprintd_queue_overtakes_total", 1},
        {"sprintd_cache_hits_total{policy=\"sieve\"}", 30},
        {"sprintd_cache_misses_total{policy=\"sieve\"}", 10},
        {"sprintd_cache_evictions_total{policy=\"sieve\"}", 1},
        {"sprintd_cache_bytes{policy=\"sieve\"}", 4000},
        {"sprintd_cache_entries{policy=\"sieve\"}", 4},
        {"sprintd_link_engaged{mode=\"auto\"}", 1},
        {"sprintd_link_held_total", 5},
        {"sprintd_link_held_bytes_total", 500},
        {"sprintd_link_measurements_total", 50},
        {"sprintd_link_limit_bytes", 4096},
        {"sprintd_link_rate_bytes_per_second", 125000},
        {"sprintd_link_delay_seconds", 0.00007},
        {"sprintd_log_lines_total", 7},
        {"sprintd_log_lines_dropped_total", 2},
        {"sprintd_log_errors_total", 1},
        {"sprintd_workers_cpu_seconds_total", 0.25},
        {"sprintd_workers_wall_seconds_total", 1},
        {"sprintd_profile_samples_total{phase=\"send\"}", 1},
    };
    struct stats_exchange exchange = sample_exchange(2 * SAMPLE_MS);

    stats = &shared->workers[1];
    exchange.method = 1;
    exchange.status = 304;
    exchange.body_bytes = 5000;
    stats_note_exchange(stats, &exchange);
    exchange.is_complete = false;
    exchange.status = 0;
    stats_note_exchange(stats, &exchange);
    stats_note_unsent(stats, 750 * (uint64_t)SAMPLE_MS);
    stats_note_open(stats);
    stats_note_open(stats);
    stats_note_close(stats, STATS_CLOSE_IDLE);
    stats_note_refused(&shared->acceptor, STATS_REFUSAL_DESCRIPTORS);
    stats_set_queue(stats, 9, 90);
    stats_set_queue(stats, 3, 30);
    stats_note_overtake(stats);
    sample_cache_and_link(stats);
    stats_set_cpu(&stats->profile, 250000000, 1000000000);
    stats_note_sample(&stats->profile, STATS_PHASE_SEND);
    counter_add(&stats->log.lines, 7);
    counter_add(&shared->log.dropped, 2);
    counter_add(&shared->log.errors, 1);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        expect(METRICS_PROMETHEUS, wanted[i].series, wanted[i].value);
        expect(METRICS_OPENMETRICS, wanted[i].series, wanted[i].value);
    }
}

TEST(samples_are_told_only_when_they_are_taken)
{
    struct stats_options options = sample_options(1);

    assert_non_null(strstr(render(METRICS_PROMETHEUS), "profile_samples"));
    use(&options);
    assert_null(strstr(render(METRICS_PROMETHEUS), "profile_samples"));
}

TEST(a_bound_counts_nothing_above_it_and_little_less_below)
{
    static const struct {
        const char *le;
        double ns;
    } bounds[] = {
        {"1e-05", 1e4}, {"2.5e-05", 2.5e4}, {"0.0001", 1e5}, {"0.00025", 2.5e5},
        {"0.001", 1e6}, {"0.1", 1e8},       {"1.0", 1e9},    {"60.0", 6e10},
    };

    for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
        char series[100];

        tear_down(NULL);
        set_up(NULL);
        stats_note_unsent(stats, (uint64_t)bounds[i].ns + 1);
        stats_note_unsent(stats, (uint64_t)(bounds[i].ns * 63 / 64) - 1);
        snprintf(series, sizeof(series),
                 "sprintd_response_unsent_seconds_bucket{le=\"%s\"}",
                 bounds[i].le);
        expect(METRICS_PROMETHEUS, series, 1);
    }
}

TEST(each_upstream_has_a_line_in_each_family)
{
    static const struct {
        const char *family;
        double values[2];
    } wanted[] = {{"up", {1, 0}},
                  {"active", {1, 0x1p64}},
                  {"connections_idle", {2, 0x1p64}},
                  {"requests_total", {30, 0x1p64}},
                  {"failures_total", {4, 0x1p64}},
                  {"retries_total", {5, 0x1p64}},
                  {"connects_total", {6, 0x1p64}},
                  {"reuses_total", {24, 0x1p64}},
                  {"received_bytes_total", {800, 0x1p64}},
                  {"sent_bytes_total", {90, 0x1p64}},
                  {"tls_handshakes_total", {7, 0x1p64}},
                  {"tls_resumed_total", {3, 0x1p64}},
                  {"tls_handshakes_failed_total", {2, 0x1p64}}};
    static const char *const labels[2] = {
        "{proxy=\"/\",server=\"192.0.2.2:9000\"}",
        "{proxy=\"/app\",server=\"unix:/run/a\\\"b\"}"};
    char series[200];

    for (size_t i = 0; i < 2 * sizeof(wanted) / sizeof(*wanted); i++) {
        snprintf(series, sizeof(series), "sprintd_upstream_%s%s",
                 wanted[i / 2].family, labels[i % 2]);
        expect(METRICS_PROMETHEUS, series, wanted[i / 2].values[i % 2]);
        expect(METRICS_OPENMETRICS, series, wanted[i / 2].values[i % 2]);
    }
    upstreams.count = 0;
    assert_null(strstr(render(METRICS_PROMETHEUS), "upstream"));
}

TEST(labels_are_escaped)
{
    struct stats_options options = sample_options(1);

    options.version = "a\"b\\c\nd";
    use(&options);
    expect(METRICS_OPENMETRICS,
           "sprintd_build_info{version=\"a\\\"b\\\\c\\nd\",schedule=\"srpt\"}",
           1);
    check(METRICS_OPENMETRICS);
}

TEST(the_longest_fits_under_its_ceiling)
{
    struct stats_options options = sample_options(1024);
    char long_name[512] = {0};

    options.is_profiled = true;
    use(&options);
    upstreams = (struct stats_upstreams){
        .count = 256, .read = sample_read_upstream, .context = long_name};
    memset(long_name, 'a', sizeof(long_name) - 1);
    for (size_t i = 0; i < 1024; i++) {
        counter_set(&shared->workers[i].accepted, UINT64_MAX);
        counter_set(&shared->workers[i].methods[0], UINT64_MAX);
        stats_set_queue(&shared->workers[i], UINT64_MAX, UINT64_MAX);
    }
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++)
        counter_set(&stats->statuses[i], UINT64_MAX);
    fill();
    render(METRICS_OPENMETRICS);
    assert_in_range(out.len, 300000, METRICS_BYTES_MAX / 2);
}

TEST(beyond_the_ceiling_it_fails_and_says_so)
{
    struct buf small;

    stats_read(shared, &sample_now, snapshot);
    buf_init(&small, NULL, 0, 5000);
    metrics_put(&small, snapshot, METRICS_PROMETHEUS);
    assert_true(small.failed);
    buf_fini(&small);
}

SUITE(.each_begin = set_up, .each_end = tear_down);
