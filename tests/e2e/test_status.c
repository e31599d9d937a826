/*
 * --status: the dashboard and what it is fed with, for whom it is, and that
 * those who watch stay out of the way of those who fetch files.
 */
#include "client.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "json.h"

enum {
    SEED = 9,
    LARGE = 20 * 1048576,
    QUICK_MS = 2000,
    STREAMS = 256, /* of a worker */
    TICK_MS = 1000
};

#define EVENTS "GET /_s/events HTTP/1.1\r\nHost: localhost\r\n\r\n"

E2E_BEGIN(start)
{
    site_seeded("large", SEED, LARGE);
}

/* --- What is there ------------------------------------------------------- */

TEST(without_the_option_there_is_none)
{
    struct server *server = START(NULL);

    expect_status(get(server, "/_sprintd/"), 404);
    expect_status(get(server, "/status.json"), 404);
}

TEST(everything_is_below_the_prefix)
{
    static const struct {
        const char *target;
        const char *type;
    } places[] = {
        {"/_s/", "text/html; charset=utf-8"},
        {"/_s/style.css", "text/css; charset=utf-8"},
        {"/_s/script.js", "text/javascript; charset=utf-8"},
        {"/_s/status.json", "application/json"},
        {"/_s/metrics", "text/plain; version=0.0.4; charset=utf-8"},
        {"/_s/health", "text/plain; charset=utf-8"},
        {"/x/../%5fs//health", "text/plain; charset=utf-8"},
    };
    struct server *server = START("--status=/_s/");
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        struct reply *reply = client_ask(client, "GET", places[i].target, NULL);
        uint64_t length = reply->length;

        going_on("%s", places[i].target);
        expect_status(reply, 200);
        expect_field(reply, "Content-Type", places[i].type);
        assert_int_equal(reply->framing, REPLY_BY_LENGTH);
        assert_true(length > 0);
        reply = client_ask(client, "HEAD", places[i].target, NULL);
        expect_status(reply, 200);
        expect_field(reply, "Content-Type", places[i].type);
        assert_int_equal(reply->body_len, 0);
    }
    client_expect_usable(client);
}

TEST(the_prefix_alone_leads_to_the_page)
{
    struct reply *reply = get(START("--status=/_s"), "/_s");

    expect_status(reply, 301);
    expect_field(reply, "Location", "/_s/");
}

TEST(the_page_may_load_nothing_from_elsewhere)
{
    struct reply *reply = get(START("--status=/_s"), "/_s/");
    const char *policy = reply_field(reply, "Content-Security-Policy");

    assert_non_null(policy);
    assert_non_null(strstr(policy, "default-src 'none'"));
    expect_field(reply, "Cache-Control", "no-cache");
}

TEST(other_names_and_methods_are_refused)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS"};
    struct server *server = START("--status=/_s");

    expect_status(get(server, "/_s/x"), 404);
    expect_status(get(server, "/_s/health/"), 404);
    expect_status(get(server, "/_sx"), 404);
    for (size_t i = 0; i < 4; i++) {
        struct reply *reply = ask(server, methods[i], "/_s/status.json", NULL);

        expect_status(reply, 405);
        expect_field(reply, "Allow", "GET, HEAD");
    }
}

TEST(the_numbers_are_json)
{
    struct reply *reply = get(START("--status=/_s", "--workers=2"),
                              "/_s/status.json");
    const char *text = reply->body;

    expect_json(reply->body, reply->body_len);
    assert_non_null(memmem(text, reply->body_len, "\"workers\":2,", 12));
    assert_non_null(memmem(text, reply->body_len, "\"draining\":false", 16));
    assert_non_null(memmem(text, reply->body_len, "\"history\":", 10));
}

/* A Python that has the parser of Prometheus' client library, or any Python;
 * NULL: there is none. */
static const char *find_python(void)
{
    static const char *const names[] = {"python3", "/usr/bin/python3"};
    static const char *const needs[] = {"prometheus_client.openmetrics.parser",
                                        "sys"};

    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            if (system(printed("%s -c 'import %s' 2>/dev/null", names[j],
                               needs[i])) == 0)
                return names[j];
    return NULL;
}

TEST(metrics_are_what_prometheus_may_be_given)
{
    static const char checker[] = "tests/e2e/check_metrics.py";
    static const char *const accepts[] = {
        "", "Accept: application/openmetrics-text; version=1.0.0\r\n"};
    struct server *server = START("--status=/_s", "--kv",
                                  printed("/kv=%s/store", folder()));
    const char *python = find_python();
    bool is_read_by_theirs = true;

    if (!python || access(checker, R_OK) != 0) {
        print_message("no Python, or no %s from here\n", checker);
        skip();
    }
    get(server, "/canary");
    get(server, "/kv/canary");
    for (size_t i = 0; i < 2; i++) {
        struct reply *reply = ask(server, "GET", "/_s/metrics", accepts[i]);
        const char *path = printed("%s/metrics", folder());
        FILE *file = fopen(path, "w");
        int status;

        going_on("'%s'", accepts[i]);
        assert_non_null(strstr(reply->body, "{store=\"/kv\",result="
                                            "\"missing\"} 1\n"));
        assert_non_null(file);
        assert_int_equal(fwrite(reply->body, 1, reply->body_len, file),
                         reply->body_len);
        assert_int_equal(fclose(file), 0);
        status = system(printed("%s %s %s", python, checker, path));
        assert_true(WIFEXITED(status));
        assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);
        is_read_by_theirs &= WEXITSTATUS(status) == 0;
    }
    if (!is_read_by_theirs) {
        print_message("python3-prometheus-client is not installed\n");
        skip();
    }
}

TEST(top_shows_them)
{
    struct server *server = START("--status=/_s");
    struct outcome outcome;

    RUN(&outcome, "top", "--once",
        printed("http://127.0.0.1:%u/_s", server->port));
    assert_int_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.out, "live"));
    assert_non_null(strstr(outcome.out, "Requests/s"));
}

TEST(what_is_no_prefix_or_block_is_refused_at_the_start)
{
    static const char *const cases[] = {"--status=_s",
                                        "--status=/",
                                        "--status=/a//b",
                                        "--status=/a/../b",
                                        "--status-allow=10.0.0.1/8",
                                        "--status-allow=example.org"};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i]);
        RUN(&outcome, cases[i], site());
        assert_int_equal(outcome.status, 64);
        assert_non_null(strstr(outcome.err, "--status"));
    }
}

/* --- For whom ------------------------------------------------------------ */

/* An address of this machine that is no loopback. False: it has none. */
static bool find_address(struct sockaddr_in *address)
{
    struct ifaddrs *all;
    bool is_found = false;

    if (getifaddrs(&all) != 0)
        return false;
    for (struct ifaddrs *at = all; at && !is_found; at = at->ifa_next) {
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET)
            continue;
        memcpy(address, at->ifa_addr, sizeof(*address));
        is_found = ntohl(address->sin_addr.s_addr) >> 24 != 127;
    }
    freeifaddrs(all);
    return is_found;
}

static void expect_from(struct server *server, struct sockaddr_in *address,
                        unsigned status)
{
    struct client *client;

    address->sin_port = htons((uint16_t)server->port);
    client = client_open_to((struct sockaddr *)address, sizeof(*address));
    assert_non_null(client);
    expect_status(client_ask(client, "GET", "/_s/health", NULL), status);
    expect_status(client_ask(client, "GET", "/_s/events/", NULL),
                  status == 200 ? 404 : status);
    client_expect_usable(client);
    client_close(client);
}

TEST(others_need_to_be_allowed)
{
    struct sockaddr_in address;
    const unsigned char *octets = (unsigned char *)&address.sin_addr;

    if (!find_address(&address))
        skip();
    expect_from(START("--bind=0.0.0.0", "--status=/_s"), &address, 403);
    expect_from(START("--bind=0.0.0.0", "--status=/_s", "--status-allow=::/0",
                      printed("--status-allow=%u.%u.%u.%u", octets[0],
                              octets[1], octets[2], octets[3])),
                &address, 200);
}

TEST(clients_of_a_unix_socket_are_let_in)
{
    const char *path = printed("%s/socket", folder());

    server_start(&(struct launch){.is_bare = true},
                 (const char *const[]){printed("--listen=unix:%s", path),
                                       "--status=/_s", NULL});
    expect_status(client_ask(client_open_unix(path), "GET", "/_s/health", NULL),
                  200);
}

/* --- Events -------------------------------------------------------------- */

/* Reads on until the stream holds so many ticks. */
static void wait_ticks(struct client *client, unsigned count)
{
    size_t len = client_take(client, 1);

    for (;;) {
        const char *at = client_raw(client);
        unsigned found = 0;

        while ((at = strstr(at, "event: tick\n"))) {
            found++;
            at++;
        }
        if (found >= count)
            return;
        if (client_take(client, len + 1) == len)
            flunk("%u ticks in %zu bytes, and no more", found, len);
        len = client_take(client, 0);
    }
}

static void expect_ticks(const struct reply *reply, unsigned least)
{
    static const char data[] = "data: ";
    const char *at = reply->body;
    const char *end = reply->body + reply->body_len;
    unsigned count = 0;

    while ((at = memmem(at, (size_t)(end - at), data, sizeof(data) - 1))) {
        const char *line_end;

        at += sizeof(data) - 1;
        line_end = memchr(at, '\n', (size_t)(end - at));
        assert_non_null(line_end);
        expect_json(at, (size_t)(line_end - at));
        at = line_end;
        count++;
    }
    assert_true(count >= least);
}

TEST(events_tick_until_the_server_stops)
{
    struct server *server = START("--status=/_s");
    struct client *client = client_open(server);
    struct reply *reply;

    client_send(client, RAW(EVENTS));
    wait_ticks(client, 2);
    server_signal(server, SIGTERM);
    reply = client_reply(client);
    expect_status(reply, 200);
    expect_field(reply, "Content-Type", "text/event-stream");
    expect_field(reply, "Cache-Control", "no-store");
    assert_int_equal(reply->framing, REPLY_BY_CHUNKS);
    expect_ticks(reply, 2);
    client_expect_orderly_end(client);
    client_close(client);
    assert_int_equal(server_wait(server, patience(QUICK_MS)), 0);
}

TEST(to_http10_events_come_without_chunks)
{
    struct server *server = START("--status=/_s");
    struct client *client = client_open(server);
    struct reply *reply;

    client_say(client, "GET /_s/events HTTP/1.0\r\n\r\n");
    wait_ticks(client, 1);
    server_signal(server, SIGTERM);
    reply = client_reply(client);
    assert_int_equal(reply->framing, REPLY_BY_CLOSE);
    expect_ticks(reply, 1);
    client_close(client);
    assert_int_equal(server_wait(server, patience(QUICK_MS)), 0);
}

/* Whether one more stream is taken. */
static bool takes_a_stream(const struct server *server)
{
    struct client *client = client_open(server);
    bool is_taken;

    client_send(client, RAW(EVENTS));
    client_take(client, 15);
    is_taken = strncmp(client_raw(client), "HTTP/1.1 200 OK", 15) == 0;
    if (!is_taken) {
        struct reply *reply = client_reply(client);

        expect_status(reply, 503);
        expect_field(reply, "Retry-After", "10");
        client_expect_usable(client);
    }
    client_close(client);
    return is_taken;
}

static struct client *open_stream(const struct server *server)
{
    struct client *client = client_open(server);

    client_send(client, RAW(EVENTS));
    client_take(client, 15);
    if (strncmp(client_raw(client), "HTTP/1.1 200 OK", 15) != 0)
        flunk("no stream, but: %.100s", client_raw(client));
    return client;
}

TEST(streams_are_few_enough_and_make_room_when_they_leave)
{
    struct server *server = START("--status=/_s", "--workers=1");
    static struct client *clients[STREAMS];

    for (size_t i = 0; i < STREAMS; i++)
        clients[i] = open_stream(server);
    assert_false(takes_a_stream(server));
    client_close(clients[3]);
    assert_true(eventually(takes_a_stream(server), QUICK_MS));
    client_reset(clients[5]);
    assert_true(eventually(takes_a_stream(server), QUICK_MS));
    expect_status(get(server, "/_s/status.json"), 200);
}

TEST(watchers_do_not_hold_up_files)
{
    enum { WATCHERS = 300, FILES = 300 };
    struct server *server = START("--status=/_s", "--workers=2");
    struct client *client = client_open(server);
    struct client *last = NULL;
    unsigned opened = 0;
    uint64_t begin;

    /* Which worker gets a connection is not ours to say. */
    for (size_t i = 0; i < WATCHERS; i++) {
        last = client_open(server);
        client_send(last, RAW(EVENTS));
        client_take(last, 15);
        opened += strncmp(client_raw(last), "HTTP/1.1 200", 12) == 0;
    }
    assert_true(opened >= STREAMS);
    wait_ticks(last, 1);
    begin = now_ms();
    for (size_t i = 0; i < FILES; i++)
        client_expect_usable(client);
    /* A tick for all of them lies within; 1 ms each would be slow. */
    assert_in_range(now_ms() - begin, 0, patience(QUICK_MS));
    wait_ticks(last, 2);
}

TEST(watching_costs_next_to_nothing)
{
    enum { WATCHERS = 20 };
    struct server *server = START("--status=/_s", "--workers=1");
    struct client *clients[WATCHERS];
    uint64_t before;

    for (size_t i = 0; i < WATCHERS; i++) {
        clients[i] = open_stream(server);
        /* What comes behind has to wait, and must not keep it awake. */
        client_say(clients[i], "GET /canary HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    wait_ticks(clients[0], 1);
    before = server_cpu_ms(server);
    pause_ms(TICK_MS);
    wait_ticks(clients[0], 3);
    /* Awake all the time it would be two seconds. */
    assert_in_range(server_cpu_ms(server) - before, 0, 300 * slowness());
    server_signal(server, SIGTERM);
    for (size_t i = 0; i < WATCHERS; i++)
        expect_ticks(client_reply(clients[i]), 1);
    clients_close();
    assert_int_equal(server_wait(server, patience(QUICK_MS)), 0);
}

/* --- Health -------------------------------------------------------------- */

TEST(while_draining_it_is_not_healthy)
{
    struct server *server = START("--status=/_s");
    struct client *client = client_open_narrow(server, 65536);
    struct reply *reply;

    expect_body(get(server, "/_s/health"), "ok\n");
    client_say(client, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"
                       "GET /_s/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_take(client, 4096);
    server_signal(server, SIGTERM);
    assert_int_equal(server_wait(server, 50), -1);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    reply = client_reply(client);
    expect_status(reply, 503);
    expect_body(reply, "draining\n");
    client_expect_end(client);
    client_close(client);
    assert_int_equal(server_wait(server, patience(QUICK_MS)), 0);
}

E2E_SUITE(start);
