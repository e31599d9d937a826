/*
 * The dashboard's events: their points are what was sent, and those who watch
 * do not spoil the counts.
 */
#include "client.h"
#include "report.h"

enum { MIDDLE = 100000, SOON_MS = 5000 };

E2E_BEGIN(start)
{
    site_seeded("middle", 1, MIDDLE);
}

static const char ask_events[] =
    "GET /_s/events HTTP/1.1\r\nHost: localhost\r\n\r\n";

/* Reads on until text has come. */
static void await(struct client *watcher, const char *text)
{
    size_t len = 0;

    do {
        size_t more = client_take(watcher, len + 1);

        if (more == len)
            flunk("'%s' did not come", text);
        len = more;
    } while (!strstr(client_raw(watcher), text));
}

/* --- Points -------------------------------------------------------------- */

struct point {
    double time;
    uint64_t requests;
    uint64_t bytes_out;
    double total_p50;
    double total_p90;
    double total_p99;
    double wait_p99;
    double hit_ratio;
    uint64_t queue_depth;
    uint64_t open;
};

/* Reads the point at the front of text; returns how long it is. What is null,
 * as nothing was asked in its second, becomes 0. */
static size_t read_point(const char *text, struct point *at)
{
    size_t len = strcspn(text, "]") + 1;
    char *copy = printed("%.*s", (int)len, text);
    int count;

    for (char *null = copy; (null = strstr(null, "null"));)
        memset(null, '0', 4);
    count = sscanf(copy, "[%lf,%lu,%lu,%lf,%lf,%lf,%lf,%lf,%lu,%lu]", &at->time,
                   &at->requests, &at->bytes_out, &at->total_p50,
                   &at->total_p90, &at->total_p99, &at->wait_p99,
                   &at->hit_ratio, &at->queue_depth, &at->open);
    if (count != 10)
        flunk("no point: %.200s", text);
    return len;
}

/* The sum of points that stand side by side, each newer than the one before;
 * hit_ratio is the best of them, the rest that of the last. */
static struct point sum_points(const char *text)
{
    struct point sum = {0};

    while (*text == '[') {
        struct point at;
        size_t len = read_point(text, &at);

        assert_true(at.time > sum.time);
        assert_true((at.requests > 0) == (at.total_p50 > 0));
        assert_true((at.requests > 0) == (at.wait_p99 > 0));
        assert_true(at.total_p50 <= at.total_p90);
        assert_true(at.total_p90 <= at.total_p99);
        /* Of a few, one may be exact and the other its bucket's. */
        assert_true(at.wait_p99 <= at.total_p99 * 1.01);
        assert_true(at.hit_ratio >= 0 && at.hit_ratio <= 1);
        if (at.hit_ratio < sum.hit_ratio)
            at.hit_ratio = sum.hit_ratio;
        at.requests += sum.requests;
        at.bytes_out += sum.bytes_out;
        sum = at;
        text += len + (text[len] == ',');
    }
    return sum;
}

static uint64_t heard; /* bytes of replies */

static struct reply *ask_counted(struct client *client, const char *target)
{
    struct reply *reply = client_ask(client, "GET", target, NULL);

    expect_status(reply, 200);
    heard += reply->head_len + reply->body_len;
    return reply;
}

/* All points the server has, when those of all requests are among them. */
static const char *await_history(struct client *client)
{
    static const char key[] = "\"points\":[";
    uint64_t until_ms = now_ms() + patience(SOON_MS);

    for (;;) {
        uint64_t before = heard;
        struct reply *reply;
        char *text;

        pause_ms(1500); /* one comes each second */
        reply = ask_counted(client, "/_s/status.json");
        text = printed("%.*s", (int)reply->body_len, reply->body);
        text = strstr(text, key);
        assert_non_null(text);
        text += sizeof(key) - 1;
        if (sum_points(text).bytes_out == before)
            return text;
        if (now_ms() > until_ms)
            flunk("%lu bytes, not %lu: %s", sum_points(text).bytes_out, before,
                  text);
    }
}

/* A worker and the history have clocks of their own: an event may have the
 * same point as the one before, or miss one. */
TEST(points_of_the_events_are_what_was_sent)
{
    enum { GETS = 100 };
    struct server *one = START("--workers=1", "--status=/_s");
    struct client *watcher = client_open(one);
    struct client *client = client_open(one);
    const char *history;
    struct point sum;
    unsigned busy = 0;

    heard = 0;
    client_say(watcher, "%s", ask_events);
    await(watcher, "\"point\":[");
    for (size_t i = 0; i < GETS; i++)
        ask_counted(client, "/middle"); /* a miss, then hits */
    history = await_history(client);
    sum = sum_points(history);
    assert_true(sum.requests >= GETS);
    assert_int_equal(sum.open, 2);
    assert_int_equal(sum.queue_depth, 0);
    for (unsigned i = 0; i < 10 && busy < 2; i++) {
        const char *at;

        ask_counted(client, "/canary");
        history = await_history(client);
        busy = 0;
        for (at = client_raw(watcher); (at = strstr(at, "\"point\":[")); at++) {
            const char *begin = strchr(at, '[');
            const char *end = strchr(begin, ']');
            char *point;

            if (!end)
                break; /* the rest is still to come */
            point = printed("%.*s", (int)(end + 1 - begin), begin);
            if (!strstr(history, point))
                flunk("%s is not in %s", point, history);
            busy += sum_points(point).requests > 0;
        }
        client_take(watcher, client_take(watcher, 0) + 1);
    }
    assert_true(busy >= 2);
    assert_true(sum_points(history).hit_ratio > 0.98); /* one was a miss */
}

TEST(watchers_that_leave_are_not_incomplete)
{
    struct server *one = START("--workers=1", "--status=/_s",
                               "--report=always");
    struct client *watchers[3];
    const char *report;

    for (size_t i = 0; i < 3; i++) {
        watchers[i] = client_open(one);
        client_say(watchers[i], "%s", ask_events);
        await(watchers[i], "\"point\":");
    }
    client_close(watchers[0]);
    client_reset(watchers[1]);
    assert_true(eventually(report_number(report_ask(one), "Connections",
                                         "open") == 1,
                           SOON_MS));
    server_stop(one); /* that ends the third */
    report = report_last(one);
    assert_int_equal(report_number(report, "Requests", "GET"), 3);
    assert_int_equal(report_number(report, "Responses", "200"), 3);
    assert_int_equal(report_number(report, "Requests", "incomplete"), 0);
    assert_int_equal(report_number(report, "Times in ms", "total"), 0);
}

E2E_SUITE(start);
