#include "observe/status_json.h"

#include "json_check.h"
#include "suite.h"
#include "unit/draw.h"
#include "unit/observe/sample_stats.h"

static struct stats_shared *shared;
static struct stats *stats;
static struct stats_snapshot *snapshot;
static struct history *history;
static struct buf out;

static const struct stats_upstreams *upstreams;

static void use_workers(size_t count)
{
    struct stats_options options = sample_options(count);

    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    shared = stats_shared_create(&options, &sample_began);
    assert_non_null(shared);
    stats = &shared->workers[0];
    snapshot = stats_snapshot_create(shared);
    assert_non_null(snapshot);
}

static int set_up(void **state)
{
    (void)state;
    use_workers(1);
    upstreams = NULL;
    history = history_create();
    buf_init(&out, NULL, 0, STATUS_JSON_BYTES_MAX);
    return history ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&out);
    history_destroy(history);
    stats_snapshot_destroy(snapshot);
    stats_shared_destroy(shared);
    history = NULL;
    snapshot = NULL;
    shared = NULL;
    return 0;
}

static struct bytes written(void)
{
    assert_false(out.failed);
    assert_true(json_is_valid_bytes(buf_bytes(&out)));
    return buf_bytes(&out);
}

static struct bytes write_status(void)
{
    stats_read(shared, &sample_now, snapshot);
    snapshot->upstreams = upstreams;
    out.len = 0;
    status_json_put(&out, snapshot, history);
    return written();
}

static struct bytes write_tick(void)
{
    stats_read(shared, &sample_now, snapshot);
    snapshot->upstreams = upstreams;
    out.len = 0;
    status_json_put_tick(&out, snapshot, history);
    return written();
}

static void expect(struct bytes json, const char *path, const char *value)
{
    struct bytes got = json_at(json, path);

    if (!got.data || !bytes_eq(got, bytes_of(value)))
        fail_msg("%s is %.*s and not %s", path, (int)got.len,
                 got.data ? got.data : "", value);
}

static void expect_none(struct bytes json, const char *path)
{
    assert_null(json_at(json, path).data);
}

/* Some of everything. */
static void fill(void)
{
    struct stats_exchange exchange = sample_exchange(2500);

    stats_note_open(stats);
    stats_note_open(stats);
    stats_note_open(stats);
    stats_note_exchange(stats, &exchange);
    exchange.method = 1;
    exchange.status = 404;
    exchange.body_bytes = 5000;
    exchange.total_ns = 1000000;
    exchange.wait_ns = 1500;
    stats_note_exchange(stats, &exchange);
    stats_note_unsent(stats, 999);
    counter_set(&stats->incomplete, 7);
    stats_note_close(stats, STATS_CLOSE_TIMEOUT);
    stats_note_refused(&shared->acceptor, STATS_REFUSAL_LIMIT);
    stats_note_refused(&shared->acceptor, STATS_REFUSAL_DESCRIPTORS);
    stats_set_queue(stats, 8, 8000);
    stats_set_queue(stats, 2, 300);
    stats_note_overtake(stats);
    sample_cache_and_link(stats);
    stats_set_cpu(&stats->profile, 250, 1000);
    stats_note_sample(&stats->profile, STATS_PHASE_SEND);
    counter_add(&stats->log.lines, 2);
    counter_add(&shared->log.dropped, 1);
    counter_add(&shared->log.errors, 3);
    stats_read(shared, &sample_now, snapshot);
    history_note(history, snapshot);
}

/* --- Its shape ----------------------------------------------------------- */

/* The text with every number written as 0. */
static char *without_numbers(struct bytes json)
{
    char *shape = malloc(json.len + 1);
    bool in_text = false;
    size_t len = 0;

    assert_non_null(shape);
    for (size_t i = 0; i < json.len; i++) {
        char c = json.data[i];

        if (c == '"')
            in_text = !in_text; /* no escapes in this test */
        if (in_text || !strchr("0123456789.", c))
            shape[len++] = c;
        else if (len == 0 || shape[len - 1] != '0' || json.data[i - 1] == '"')
            shape[len++] = '0';
    }
    shape[len] = '\0';
    return shape;
}

#define TIMES                                                          \
    "{\"count\":0,\"min\":0,\"mean\":0,\"p50\":0,\"p90\":0,\"p99\":0," \
    "\"p999\":0,\"max\":0}"
#define SIZE \
    "{\"to_bytes\":0,\"count\":0,\"wait\":" TIMES ",\"total\":" TIMES "}"
#define STORE_FIGURES                                                \
    ",\"keys\":0,\"map_bytes\":0,\"used_bytes\":0,\"commits\":0,"    \
    "\"writes\":0,\"swept\":0,\"queue_writes\":0,\"queue_bytes\":0," \
    "\"cache_hits\":0,\"cache_misses\":0,\"cache_evictions\":0,"     \
    "\"cache_bytes\":0,\"calls\":0,\"resent\":0,\"timeouts\":0,"     \
    "\"unreachable\":0,\"connects\":0"
#define STORE(figures, prefix, engine)                                   \
    "{\"prefix\":\"" prefix "\",\"engine\":\"" engine "\",\"found\":0,"  \
    "\"missing\":0,\"lists\":0,\"created\":0,\"replaced\":0,"            \
    "\"deleted\":0,\"not_deleted\":0,\"batches\":0,\"preconditions\":0," \
    "\"busy\":0,\"full\":0,\"failed\":0,\"bytes_in\":0,\"bytes_out\":"   \
    "0" figures "}"
#define PRESENT                                                               \
    "{\"server\":\"sprintd\",\"version\":\"1.2.3\",\"uptime_s\":0,"           \
    "\"time\":0,\"workers\":0,\"schedule\":\"srpt\",\"draining\":false,"      \
    "\"requests\":{\"total\":0,\"incomplete\":0,\"by_method\":{\"GET\":0,"    \
    "\"HEAD\":0},"                                                            \
    "\"by_status\":{\"200\":0,\"404\":0}},\"bytes\":{\"in\":0,\"out\":0},"    \
    "\"connections\":{\"open\":0,\"accepted\":0,\"refused\":0,\"closed\":"    \
    "{\"client\":0,\"idle\":0,\"timeout\":0,\"error\":0,\"limit\":0,"         \
    "\"drain\":0}},\"cache\":{\"policy\":\"sieve\",\"hits\":0,"               \
    "\"misses\":0,\"evictions\":0,\"bytes\":0,\"entries\":0},"                \
    "\"compress\":{\"sent\":0,\"saved_bytes\":0,\"made\":0,\"hopeless\":0,"   \
    "\"failed\":0,\"refused\":0,\"bytes_in\":0,\"bytes_out\":0,"              \
    "\"queued\":0,\"memory_bytes\":0,\"memory_bytes_max\":0},"                \
    "\"queue\":{\"depth\":0,\"depth_max\":0,\"bytes\":0,\"overtakes\":0,"     \
    "\"by_worker\":[{\"worker\":0,\"depth\":0,\"depth_max\":0,\"bytes\":0,"   \
    "\"open\":0,\"requests\":0}]},\"link\":{\"mode\":\"auto\","               \
    "\"engaged\":true,\"held\":0,\"held_bytes\":0,\"measured\":0,"            \
    "\"limit_bytes\":0,\"rate_bytes_per_second\":0,\"delay_us\":0},"          \
    "\"log\":{\"lines\":0,\"dropped\":0,\"errors\":0},"                       \
    "\"stores\":[" STORE(STORE_FIGURES, "/kv", "lmdb") "," STORE(             \
        "", "/far", "redis") "],"                                             \
                             "\"upstreams\":[],"                              \
                             "\"times\":{\"wait\":" TIMES                     \
                             ",\"service\":" TIMES ",\"total\":" TIMES        \
                             ",\"unsent\":" TIMES "},\"sizes\":[" SIZE        \
                             "," SIZE "," SIZE "," SIZE ","                   \
                             "{\"to_bytes\":null,\"count\":0,\"wait\":" TIMES \
                             ",\"total\":" TIMES "}],"                        \
                             "\"profile\":{\"enabled\":false,\"idle\":0,"     \
                             "\"phases\":{\"accept\":0,"                      \
                             "\"read\":0,\"parse\":0,\"lookup\":0,"           \
                             "\"schedule\":0,\"send\":0,"                     \
                             "\"log\":0,\"other\":0}},"
#define POINT "[0,0,0,0,0,0,0,0,0,0]"
/* Of a second in which nothing was asked: no time is known, and no share. */
#define IDLE_POINT "[0,0,0,null,null,null,null,null,0,0]"
#define SLOW(method)                                                        \
    "{\"time\":0,\"method\":\"" method "\",\"target\":\"/x\",\"status\":0," \
    "\"bytes\":0,\"total\":0,\"wait\":0,\"remote\":\"192.0.2.1\"}"
#define SLOWEST "\"slowest\":[" SLOW("HEAD") "," SLOW("GET") "]}"

TEST(its_shape_is_that_which_others_rely_on)
{
    char *shape;

    fill();
    shape = without_numbers(write_status());
    assert_string_equal(shape, PRESENT
                        "\"history\":{\"interval_s\":0,\"points\":[" POINT
                        "]}," SLOWEST);
    free(shape);
}

TEST(a_tick_has_the_newest_point_for_the_history)
{
    char *shape;

    fill();
    history_note(history, snapshot);
    shape = without_numbers(write_tick());
    assert_string_equal(shape, PRESENT "\"point\":" IDLE_POINT "," SLOWEST);
    free(shape);
}

TEST(with_nothing_counted_it_is_valid_and_zero)
{
    struct bytes json;

    json = write_status();
    expect(json, "requests.total", "0");
    expect(json, "requests.by_method", "{}");
    expect(json, "requests.by_status", "{}");
    expect(json, "times.total.mean", "0");
    expect(json, "times.total.p999", "0");
    expect(json, "profile.idle", "0");
    expect(json, "history.points", "[]");
    expect(json, "slowest", "[]");
    json = write_tick();
    expect(json, "point", "null");
    expect_none(json, "history");
}

/* --- Its values ---------------------------------------------------------- */

TEST(values_are_those_counted)
{
    static const char *const values[][2] = {
        {"uptime_s", "1.2"},
        {"time", "1763750001.323"},
        {"workers", "1"},
        {"requests.total", "2"},
        {"requests.incomplete", "7"},
        {"requests.by_method.GET", "1"},
        {"requests.by_method.HEAD", "1"},
        {"requests.by_status.404", "1"},
        {"bytes.in", "200"},
        {"bytes.out", "2400"},
        {"connections.open", "2"},
        {"connections.accepted", "3"},
        {"connections.refused", "2"},
        {"connections.closed.timeout", "1"},
        {"connections.closed.idle", "0"},
        {"cache.hits", "30"},
        {"cache.misses", "10"},
        {"cache.evictions", "1"},
        {"cache.bytes", "4000"},
        {"cache.entries", "4"},
        {"queue.depth", "2"},
        {"queue.depth_max", "8"},
        {"queue.bytes", "300"},
        {"queue.overtakes", "1"},
        {"queue.by_worker.0.worker", "0"},
        {"queue.by_worker.0.depth", "2"},
        {"queue.by_worker.0.depth_max", "8"},
        {"queue.by_worker.0.bytes", "300"},
        {"queue.by_worker.0.open", "2"},
        {"queue.by_worker.0.requests", "2"},
        {"link.held", "5"},
        {"link.held_bytes", "500"},
        {"link.measured", "50"},
        {"link.limit_bytes", "4096"},
        {"link.rate_bytes_per_second", "125000"},
        {"link.delay_us", "70"},
        {"log.lines", "2"},
        {"log.dropped", "1"},
        {"log.errors", "3"},
        {"times.wait.count", "2"},
        {"times.wait.min", "1.25"},
        {"times.wait.mean", "1.375"},
        {"times.wait.max", "1.5"},
        {"times.total.min", "2.5"},
        {"times.total.p50", "2.5"},
        {"times.total.p99", "1000"},
        {"times.total.max", "1000"},
        {"times.unsent.max", "0.999"},
        {"sizes.0.to_bytes", "1024"},
        {"sizes.0.count", "1"},
        {"sizes.1.to_bytes", "10240"},
        {"sizes.1.count", "1"},
        {"sizes.1.total.max", "1000"},
        {"sizes.4.to_bytes", "null"},
        {"sizes.4.count", "0"},
        {"profile.idle", "0.75"},
        {"profile.phases.send", "0.25"},
        {"history.interval_s", "1"},
        {"history.points.0",
         "[1763750001.323,2,2400,2.5,1000,1000,1.5,0.75,2,2]"},
        {"slowest.0.time", "1763750001.323"},
        {"slowest.0.method", "\"HEAD\""},
        {"slowest.0.status", "404"},
        {"slowest.0.bytes", "5000"},
        {"slowest.0.total", "1000"},
        {"slowest.0.wait", "1.5"},
        {"slowest.1.total", "2.5"},
    };
    struct bytes json;

    fill();
    json = write_status();
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        expect(json, values[i][0], values[i][1]);
}

TEST(draining_is_said)
{
    expect(write_status(), "draining", "false");
    stats_shared_drain(shared);
    expect(write_status(), "draining", "true");
}

TEST(workers_are_told_apart)
{
    use_workers(3);
    stats_set_queue(&shared->workers[2], 5, 50);
    expect(write_status(), "workers", "3");
    expect(buf_bytes(&out), "queue.by_worker.1.depth", "0");
    expect(buf_bytes(&out), "queue.by_worker.2.worker", "2");
    expect(buf_bytes(&out), "queue.by_worker.2.depth", "5");
    expect_none(buf_bytes(&out), "queue.by_worker.3");
}

/* --- Texts from clients -------------------------------------------------- */

TEST(upstreams_are_told_one_by_one)
{
    struct bytes json = write_tick();

    expect_none(json, "upstreams.0");
    upstreams = &sample_upstreams;
    for (unsigned i = 0; i < 2; i++) {
        json = i == 0 ? write_tick() : write_status();
        expect(json, "upstreams.0.proxy", "\"/\"");
        expect(json, "upstreams.0.server", "\"192.0.2.2:9000\"");
        expect(json, "upstreams.0.state", "\"up\"");
        expect(json, "upstreams.0.active", "1");
        expect(json, "upstreams.0.idle", "2");
        expect(json, "upstreams.0.requests", "30");
        expect(json, "upstreams.0.failures", "4");
        expect(json, "upstreams.0.retries", "5");
        expect(json, "upstreams.0.connects", "6");
        expect(json, "upstreams.0.reuses", "24");
        expect(json, "upstreams.0.bytes_in", "800");
        expect(json, "upstreams.0.bytes_out", "90");
        expect(json, "upstreams.0.handshakes", "7");
        expect(json, "upstreams.0.resumed", "3");
        expect(json, "upstreams.0.handshakes_failed", "2");
        expect(json, "upstreams.1.server", "\"unix:/run/a\\\"b\"");
        expect(json, "upstreams.1.state", "\"ejected\"");
    }
}

static void note_target(struct bytes target)
{
    struct stats_exchange exchange = sample_exchange(1000000);

    exchange.target = target;
    stats_note_exchange(stats, &exchange);
}

TEST(what_clients_send_cannot_break_out)
{
    note_target(BYTES("/\"},{\"\\\n\r\t\x7f</script>\xff\xc3"));
    expect(write_status(), "slowest.0.target",
           "\"/\\\"},{\\\"\\\\\\u000a\\u000d\\u0009\\u007f</script>"
           "\\ufffd\\ufffd\"");
    assert_null(memchr(out.data, '\n', out.len));
}

TEST(any_bytes_at_all_leave_it_valid)
{
    char target[SLOWEST_TARGET_MAX + 10];

    draw_seed = 1;
    for (int i = 0; i < 2000; i++) {
        size_t len = draw(sizeof(target) + 1);

        for (size_t n = 0; n < len; n++)
            target[n] = (char)draw(256);
        slowest_tick(&stats->slowest, (uint64_t)(i + 1) * 60000);
        note_target((struct bytes){target, len});
        write_tick();
        assert_null(memchr(out.data, '\n', out.len));
    }
}

TEST(a_character_that_is_cut_leaves_it_valid)
{
    char target[SLOWEST_TARGET_MAX + 4];

    for (unsigned shift = 0; shift < 4; shift++) {
        memset(target, '/', shift);
        for (size_t i = shift; i < sizeof(target); i++)
            target[i] = "\xf0\x9f\x98\x80"[(i - shift) % 4];
        note_target((struct bytes){target, sizeof(target)});
    }
    write_status();
    expect(buf_bytes(&out), "requests.total", "4");
}

/* --- Its length ---------------------------------------------------------- */

/* Every number as long as it can be. */
static void exhaust(void)
{
    char target[SLOWEST_TARGET_MAX];
    struct counter *counter;

    memset(target, 1, sizeof(target)); /* \u0001 */
    for (unsigned i = 0; i < SLOWEST_COUNT; i++)
        note_target((struct bytes){target, sizeof(target)});
    for (size_t i = 0; i < shared->options.worker_count; i++) {
        counter = shared->workers[i].methods;
        for (size_t n = 0; n < SAMPLE_METHODS; n++)
            counter_set(&counter[n], UINT64_MAX);
        stats_set_queue(&shared->workers[i], UINT64_MAX, UINT64_MAX);
        counter_set(&shared->workers[i].accepted, UINT64_MAX);
    }
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++)
        counter_set(&stats->statuses[i], UINT64_MAX);
    for (unsigned i = 0; i < HISTORY_POINTS_MAX; i++) {
        stats_note_unsent(stats, UINT64_MAX);
        sample_note(stats, UINT64_MAX);
        stats_read(shared, &sample_now, snapshot);
        history_note(history, snapshot);
    }
}

TEST(the_longest_fits_under_its_ceiling)
{
    static char long_name[512];
    const struct stats_upstreams many = {
        .count = 256, .read = sample_read_upstream, .context = long_name};

    memset(long_name, 'a', sizeof(long_name) - 1);
    upstreams = &many;
    use_workers(1024);
    exhaust();
    write_status();
    assert_in_range(out.len, 150000, STATUS_JSON_BYTES_MAX / 2);
}

TEST(beyond_the_ceiling_it_fails_and_says_so)
{
    fill();
    write_status();
    for (size_t max = 0; max < out.len; max += 97) {
        struct buf small;

        buf_init(&small, NULL, 0, max);
        status_json_put(&small, snapshot, history);
        assert_true(small.failed);
        buf_fini(&small);
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
