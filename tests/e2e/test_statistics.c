/*
 * What the Server Statistic Report tells: when there is one, the ends of
 * connections, times and the queue; and the Server-Timing field. That counts
 * are those of the clients is test_counts.c's.
 */
#include <signal.h>

#include "client.h"
#include "report.h"

enum { LARGE = 5000000, MIDDLE = 100000, SOON_MS = 5000 };

E2E_BEGIN(start)
{
    site_seeded("middle", 1, MIDDLE);
    site_seeded("large", 2, LARGE);
}

/* --- Times in a report --------------------------------------------------- */

/* A row of a table of times, in milliseconds. */
struct times {
    uint64_t count;
    double min;
    double mean;
    double shares[4]; /* median, p90, p99, p99.9 */
    double max;
};

static struct times times_of(const char *report, const char *title,
                             const char *label)
{
    const char *row = report_find(report, title, label);
    struct times times;

    if (!row ||
        sscanf(row, "%lu %lf %lf %lf %lf %lf %lf %lf", &times.count, &times.min,
               &times.mean, &times.shares[0], &times.shares[1],
               &times.shares[2], &times.shares[3], &times.max) != 8)
        flunk("no times of '%s' in: %s", label, report);
    return times;
}

/* --- When there is one --------------------------------------------------- */

TEST(a_signal_asks_for_it_at_any_time)
{
    struct server *one = START("--report=off");
    struct client *client = client_open(one);

    assert_int_equal(report_number(report_ask(one), "Requests", "all"), 0);
    client_expect_usable(client);
    client_expect_usable(client);
    /* The client has its answer a moment before it is counted. */
    assert_true(eventually(report_number(report_ask(one), "Requests", "GET") ==
                               2,
                           SOON_MS));
    assert_int_equal(report_number(report_ask(one), "Connections", "open"), 1);
    client_close(client);
    assert_true(eventually(report_number(report_ask(one), "Connections",
                                         "closed: client") == 1,
                           SOON_MS));
    client_expect_usable(client_open(one));
}

TEST(at_exit_it_is_printed_when_asked_for_or_to_a_terminal)
{
    struct server *one = START("--report=auto"); /* its errors go to a file */

    server_stop(one);
    assert_int_equal(report_count(one), 0);
    one = START("--report=off");
    server_stop(one);
    assert_int_equal(report_count(one), 0);
    one = START("--report=always");
    server_stop(one);
    assert_int_equal(report_count(one), 1);
    /* A server that never served has nothing to tell. */
    struct outcome outcome;

    RUN(&outcome, "--report=always", printed("%s/nowhere", folder()));
    assert_int_not_equal(outcome.status, 0);
    assert_null(strstr(outcome.err, "Report"));
}

TEST(lines_of_the_access_log_are_counted)
{
    struct server *one = START("--report=always",
                               printed("--access-log=%s/log", folder()));
    struct client *client = client_open(one);

    for (size_t i = 0; i < 10; i++)
        client_expect_usable(client);
    server_stop(one);
    assert_int_equal(report_number(report_last(one), "Access log", "lines"),
                     10);
    assert_int_equal(report_number(report_last(one), "Access log", "dropped"),
                     0);
}

/* --- Ends of connections -------------------------------------------------- */

TEST(connections_are_counted_by_their_end)
{
    char *short_time = printed("%llums", (unsigned long long)patience(600));
    struct server *one = START("--report=always", "--workers=1",
                               printed("--keepalive-timeout=%s", short_time),
                               printed("--header-timeout=%s", short_time),
                               "--max-requests-per-connection=3");
    struct client *client = client_open(one);
    const char *report;

    client_expect_usable(client); /* then idle */
    client_expect_end(client);
    for (size_t i = 0; i < 2; i++) { /* half a head */
        client = client_open(one);
        client_say(client, "GET /can");
        expect_status(client_reply(client), 408);
        client_expect_end(client);
        client_close(client);
    }
    for (size_t i = 0; i < 3; i++) { /* nonsense */
        client = client_open(one);
        client_say(client, "no request\r\n\r\n");
        expect_status(client_reply(client), 400);
        client_expect_end(client);
        client_close(client);
    }
    for (size_t i = 0; i < 4; i++) /* asked for by the client */
        expect_status(ask(one, "GET", "/canary", "Connection: close\r\n"), 200);
    client = client_open(one); /* too many */
    for (size_t i = 0; i < 3; i++)
        expect_status(client_ask(client, "GET", "/canary", NULL), 200);
    client_expect_end(client);
    client_close(client);
    client = client_open_narrow(one, 4096);
    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    client_reset(client); /* broken off */
    assert_true(eventually(report_number(report_ask(one), "Connections",
                                         "open") == 0,
                           SOON_MS));
    server_stop(one);
    report = report_last(one);
    assert_int_equal(report_number(report, "Connections", "accepted"), 12);
    assert_int_equal(report_number(report, "Connections", "closed: idle"), 1);
    assert_int_equal(report_number(report, "Connections", "closed: timeout"),
                     2);
    assert_int_equal(report_number(report, "Connections", "closed: error"),
                     3 + 1);
    assert_int_equal(report_number(report, "Connections", "closed: client"), 4);
    assert_int_equal(report_number(report, "Connections", "closed: limit"), 1);
    assert_int_equal(report_number(report, "Connections", "closed: drain"), 0);
    assert_int_equal(report_number(report, "Requests", "incomplete"), 1);
    assert_int_equal(report_number(report, "Requests", "other"), 2 + 3);
    assert_int_equal(report_number(report, "Requests", "all"),
                     1 + 2 + 3 + 4 + 4);
}

TEST(clients_that_are_turned_away_are_counted)
{
    struct server *one = START("--report=always", "--max-connections=1");
    struct client *first = client_open(one);

    /* Whoever waits for a request would make room. */
    client_say(first, "GET /canary HTTP/1.1\r\nHost: a\r\n"
                      "Content-Length: 5\r\n\r\n");
    pause_ms(50);
    for (size_t i = 0; i < 3; i++) {
        struct client *next = client_open(one);

        expect_status(client_reply(next), 503);
        client_close(next);
    }
    client_close(first);
    server_stop(one);
    assert_int_equal(report_number(report_last(one), "Connections",
                                   "refused: limit"),
                     3);
    assert_int_equal(report_number(report_last(one), "Connections", "accepted"),
                     1);
}

/* --- Times ---------------------------------------------------------------- */

static void expect_in_order(const struct times *times)
{
    double last = times->min;

    for (size_t i = 0; i < 4; i++) {
        assert_true(times->shares[i] >= last);
        last = times->shares[i];
    }
    assert_true(times->max >= last);
    assert_true(times->mean >= times->min && times->mean <= times->max);
}

TEST(times_are_those_a_clock_beside_it_shows)
{
    enum { PAUSE_MS = 300, SMALL = 20 };
    struct server *one = START("--report=always", "--workers=1");
    struct client *client = client_open_narrow(one, 4096);
    uint64_t begin = now_ms();
    uint64_t took;
    struct times wait;
    struct times service;
    struct times total;
    const char *report;

    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(client, 1000);
    pause_ms(PAUSE_MS); /* takes nothing */
    expect_seeded(client_reply(client), 2, 0, LARGE);
    client = client_open(one);
    for (size_t i = 0; i < SMALL; i++)
        client_expect_usable(client);
    server_stop(one);
    took = now_ms() - begin;
    report = report_last(one);
    wait = times_of(report, "Times in ms", "wait");
    service = times_of(report, "Times in ms", "service");
    total = times_of(report, "Times in ms", "total");
    expect_in_order(&wait);
    expect_in_order(&service);
    expect_in_order(&total);
    assert_int_equal(total.count, SMALL + 1);
    assert_int_equal(wait.count, SMALL + 1);
    assert_int_equal(service.count, SMALL + 1);
    assert_true(wait.min > 0);
    assert_true(total.mean >= wait.mean && total.max >= wait.max);
    assert_true(total.max >= service.max);
    assert_true(service.max >= PAUSE_MS * 0.9);
    assert_true(total.max <= (double)took + 1);
    assert_true(total.min <= total.max / 2); /* the small ones */
    assert_int_equal(times_of(report, "Total by size", "larger").count, 1);
    assert_int_equal(times_of(report, "Total by size", "to 1 KiB").count,
                     SMALL);
}

/* Its client takes the last bytes long after the server gave them away. */
TEST(what_the_kernel_keeps_is_told_apart)
{
    enum { STEP = 4096, STEP_MS = 20 };
    struct server *one = START("--report=always", "--workers=1",
                               "--link-rate=off");
    struct client *client = client_open_narrow(one, STEP);
    struct times unsent;

    client_say(client, "GET /middle HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t taken = 0; taken < MIDDLE; taken += STEP) {
        client_take(client, taken);
        pause_ms(STEP_MS);
    }
    expect_seeded(client_reply(client), 1, 0, MIDDLE);
    assert_true(eventually(report_find(report_ask(one), "Times in ms",
                                       "unsent"),
                           SOON_MS));
    unsent = times_of(report_last(one), "Times in ms", "unsent");
    assert_int_equal(unsent.count, 1);
    assert_true(unsent.max >= STEP_MS);
}

/* --- The queue, and Server-Timing ----------------------------------------- */

static void expect_timing(const struct reply *reply, const char *cache,
                          unsigned *waiting_out)
{
    const char *value = reply_field(reply, "Server-Timing");
    char expected[128];
    unsigned ms;
    unsigned us;
    unsigned position;

    if (!value || sscanf(value, "queue;dur=%u.%3u", &ms, &us) != 2 ||
        !strstr(value, "sched;desc=\"") ||
        sscanf(strstr(value, "sched;desc=\""), "sched;desc=\"%u/%u\"",
               &position, waiting_out) != 2)
        flunk("no timing: '%s'", value ? value : "");
    snprintf(expected, sizeof(expected),
             "queue;dur=%u.%03u, %s%ssched;desc=\"%u/%u\"", ms, us, cache,
             *cache ? ", " : "", position, *waiting_out);
    assert_string_equal(value, expected);
    assert_true(ms < patience(SOON_MS));
    assert_in_range(position, 1, *waiting_out);
}

TEST(clients_are_told_where_time_went)
{
    struct server *one = START("--server-timing", "--workers=1");
    struct client *client = client_open(one);
    struct reply *reply = client_ask(client, "GET", "/canary", NULL);
    char *etag = printed("%s", reply_field(reply, "ETag"));
    unsigned waiting;

    expect_timing(reply, "cache;desc=miss", &waiting);
    expect_body(reply, "canary\n");
    reply = client_ask(client, "GET", "/canary", NULL);
    expect_timing(reply, "cache;desc=hit", &waiting);
    expect_body(reply, "canary\n");
    assert_int_equal(waiting, 1);
    reply = client_ask(client, "GET", "/canary",
                       printed("If-None-Match: %s\r\n", etag));
    expect_status(reply, 304);
    expect_timing(reply, "cache;desc=hit", &waiting);
    reply = client_ask(client, "GET", "/middle", "Range: bytes=9-29\r\n");
    expect_status(reply, 206);
    expect_seeded(reply, 1, 9, 21);
    expect_timing(reply, "cache;desc=miss", &waiting);
    reply = client_ask(client, "GET", "/middle", "Range: bytes=1-2,5-6\r\n");
    expect_status(reply, 206);
    expect_timing(reply, "cache;desc=hit", &waiting);
    reply = client_ask(client, "GET", "/large", NULL); /* by sendfile */
    expect_seeded(reply, 2, 0, LARGE);
    expect_timing(reply, "cache;desc=miss", &waiting);
    reply = client_ask(client, "GET", "/none", NULL);
    expect_status(reply, 404);
    expect_timing(reply, "cache;desc=miss", &waiting);
    reply = client_ask(client, "HEAD", "/canary", NULL);
    expect_timing(reply, "cache;desc=hit", &waiting);
    reply = client_ask(client, "POST", "/canary", NULL);
    expect_status(reply, 405);
    expect_timing(reply, "", &waiting);
    client_say(client, "GET /canary HTTP/1.0\r\n\r\n");
    expect_timing(client_reply(client), "cache;desc=hit", &waiting);
    client_expect_end(client);
}

TEST(without_the_option_nothing_is_told)
{
    struct server *one = START("--workers=1");

    expect_no_field(get(one, "/canary"), "Server-Timing");
    expect_no_field(get(one, "/none"), "Server-Timing");
    expect_no_field(ask(one, "GET", "/large", "Range: bytes=0-9\r\n"),
                    "Server-Timing");
}

TEST(a_small_response_that_passes_large_ones_shows)
{
    enum { LARGES = 3 };
    struct server *one = START("--report=always", "--workers=1",
                               "--server-timing", "--link-rate=1M",
                               "--drain-timeout=0");
    struct client *larges[LARGES];
    unsigned waiting = 0;
    const char *report;

    for (size_t i = 0; i < LARGES; i++) {
        larges[i] = client_open(one);
        client_say(larges[i], "GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    client_take(larges[0], 1000); /* the link is busy: all wait */
    for (size_t i = 0; i < 10; i++)
        expect_timing(get(one, "/canary"),
                      i == 0 ? "cache;desc=miss" : "cache;desc=hit", &waiting);
    assert_in_range(waiting, 2, LARGES + 1);
    /* The client has its answer a moment before the turn ends. */
    assert_true(eventually(report_number(report_ask(one), "Queue",
                                         "depth now") <= LARGES,
                           SOON_MS));
    report = report_last(one);
    assert_in_range(report_number(report, "Queue", "depth now"), 1, LARGES);
    assert_in_range(report_number(report, "Queue", "depth at most"), 1,
                    LARGES + 1);
    assert_in_range(report_number(report, "Queue", "bytes now"), 1,
                    LARGES * (LARGE + 1000));
    assert_true(report_number(report, "Queue", "overtakes") >= 10);
    server_stop(one);
    report = report_last(one);
    assert_true(report_number(report, "Link, mode rate, engaged", "held back") >
                0);
    assert_in_range(report_number(report, "Link", "rate, bytes/s"), 120000,
                    250000);
    assert_int_equal(report_number(report, "Requests", "incomplete"), LARGES);
    assert_int_equal(report_number(report, "Queue", "depth now"), 0);
    assert_int_equal(report_number(report, "Queue", "bytes now"), 0);
}

E2E_SUITE(start);
