/*
 * Bodies of any size, both ways at once: who is slow makes the other wait, not
 * memory grow. TEST_SLOW_CLIENTS says how many of these there are, up to 1000.
 */
#include <poll.h>
#include <sys/socket.h>

#include "origin.h"
#include "upstream.h"

enum {
    KB = 1024,
    MB = 1024 * KB,
    LARGE = 20 * MB,
    BLOCK = 64 * KB,
    NARROW = 4 * KB, /* of a client's receive buffer */
    SLOW_CLIENTS = 200,
    SLOW_CLIENTS_MAX = 1000,
    BUFFER = 64 * KB /* --proxy-buffer, each way */
};

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct server *start_before(const struct origin *origin)
{
    return START("--workers=2", printed("--proxy=/=%s", origin->at));
}

/* --- Both ways at once --------------------------------------------------- */

/* Sends what a seed stands for, in blocks of such a size if it is not 0. */
static void send_seeded(struct client *client, uint64_t seed, size_t len,
                        size_t chunk)
{
    static char block[BLOCK];

    for (size_t at = 0; at < len;) {
        size_t step = chunk ? chunk : sizeof(block);

        if (step > len - at)
            step = len - at;
        seeded_fill(seed, at, block, step);
        if (chunk)
            client_say(client, "%zx\r\n", step);
        if (!client_send(client, block, step))
            flunk("it takes no more after %zu bytes", at);
        if (chunk)
            client_say(client, "\r\n");
        at += step;
    }
    if (chunk)
        client_say(client, "0\r\n\r\n");
}

TEST(an_upload_is_echoed_while_it_comes)
{
    struct origin *origin = origin_start("origin");
    struct server *server = start_before(origin);
    struct client *client = client_open(server);

    client_say(client,
               "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
               LARGE);
    send_seeded(client, 1, LARGE, 0);
    expect_seeded(client_reply(client), 1, 0, LARGE);
    client_say(client, "POST /echo HTTP/1.1\r\nHost: a\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n");
    send_seeded(client, 2, LARGE, 50000);
    expect_seeded(client_reply(client), 2, 0, LARGE);
    origin_check(origin);
}

TEST(many_uploads_and_downloads_go_on_together)
{
    enum { CLIENTS = 8, EACH = 2 * MB };
    struct origin *origin = origin_start("origin");
    struct server *server = start_before(origin);
    struct client *clients[CLIENTS];

    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(server);
        client_say(clients[i], "GET /%s/%zu/%d HTTP/1.1\r\nHost: a\r\n\r\n",
                   (const char *const[]){"bytes", "chunks", "close"}[i % 3], i,
                   EACH);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        struct client *client = client_open(server);

        client_say(client,
                   "POST /echo HTTP/1.1\r\nHost: a\r\n"
                   "Content-Length: %d\r\n\r\n",
                   EACH);
        send_seeded(client, 100 + i, EACH, 0);
        expect_seeded(client_reply(client), 100 + i, 0, EACH);
        expect_seeded(client_reply(clients[i]), i, 0, EACH);
    }
    origin_check(origin);
}

/* A body of events is of no use when it is kept until there is more. */
TEST_WITH(what_comes_goes_on_at_once, NULL, harness_after_test)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-request-buffer=0");
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client,
                          "POST / HTTP/1.1\r\nHost: a\r\n"
                          "Content-Length: 20\r\n\r\n");
    client_say(peer, OK "Content-Length: 20\r\n\r\n");
    expect_hears(client, OK VIA "Content-Length: 20\r\n\r\n");
    for (int i = 0; i < 20; i++) {
        const char *byte = printed("%c", 'a' + i);

        client_say(client, "%s", byte);
        expect_hears(peer, byte);
        client_say(peer, "%s", byte);
        expect_hears(client, byte);
    }
}

/* --- Slow clients -------------------------------------------------------- */

static size_t slow_clients(void)
{
    const char *text = getenv("TEST_SLOW_CLIENTS");
    size_t count = text ? strtoul(text, NULL, 10) : 0;

    if (count == 0)
        count = SLOW_CLIENTS;
    return count < SLOW_CLIENTS_MAX ? count : SLOW_CLIENTS_MAX;
}

TEST(slow_clients_cost_a_buffer_each)
{
    size_t count = slow_clients();
    struct origin *origin = origin_start("origin");
    struct server *server = start_before(origin);
    struct client **clients = scratch(count * sizeof(*clients));
    uint64_t before;
    uint64_t grown;

    expect_status(get(server, "/f"), 200);
    before = server_memory(server);
    for (size_t i = 0; i < count; i++) {
        clients[i] = client_open_narrow(server, NARROW);
        client_say(clients[i], "GET /bytes/%zu/%d HTTP/1.1\r\nHost: a\r\n\r\n",
                   i, LARGE);
        client_take(clients[i], KB);
    }
    /* Others are served as ever. */
    for (int i = 0; i < 50; i++)
        expect_status(get(server, "/f"), 200);
    grown = server_memory(server) - before;
    /* A buffer and as much again of all else; a sanitizer needs shadows. */
    if (grown > (is_sanitized() ? 16 : 2) * count * BUFFER + 8 * MB)
        flunk("%zu slow clients cost %llu KiB each", count,
              (unsigned long long)(grown / count / KB));
    for (size_t i = 0; i < 2; i++)
        expect_seeded(client_reply(clients[i]), i, 0, LARGE);
    /* Who goes takes the connection to the origin along. */
    for (size_t i = 0; i < count; i++)
        client_close(clients[i]);
    assert_true(eventually(atomic_load(&origin->counts->open) <= 8, 10000));
    origin_check(origin);
}

/* The upstream is not to blame for what nobody wants to read. */
TEST(a_slow_client_is_no_silence_of_the_upstream)
{
    struct origin *origin = origin_start("origin");
    struct server *server = START("--workers=1",
                                  printed("--proxy=/=%s", origin->at),
                                  "--proxy-idle-timeout=1s");
    struct client *client = client_open_narrow(server, NARROW);

    client_say(client, "GET /bytes/5/%d HTTP/1.1\r\nHost: a\r\n\r\n", LARGE);
    client_take(client, 1);
    pause_ms(2500);
    expect_seeded(client_reply(client), 5, 0, LARGE);
}

/* --- Slow upstreams ------------------------------------------------------ */

/* Sends as long as somebody takes it. How much that was. */
static size_t send_until_full(struct client *client, size_t max)
{
    static char block[BLOCK];
    size_t sent = 0;
    uint64_t until = now_ms() + 300;

    while (sent < max && now_ms() < until) {
        ssize_t n = send(client_socket(client), block, sizeof(block),
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n == -1 && errno != EAGAIN)
            flunk("send: %s", strerror(errno));
        if (n > 0) {
            sent += (size_t)n;
            until = now_ms() + 300;
        } else {
            pause_ms(5);
        }
    }
    return sent;
}

TEST_WITH(an_upload_waits_for_an_upstream_that_does_not_read, NULL,
          harness_after_test)
{
    enum { HUGE_BYTES = 256 * MB };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-request-buffer=0");
    struct client *client = client_open(server);
    uint64_t before = server_memory(server);
    struct client *peer;
    size_t sent;

    client_say(client,
               "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
               HUGE_BYTES);
    peer = upstream_accept(upstream);
    hear_head(peer);
    sent = send_until_full(client, HUGE_BYTES);
    /* The rest lies in four socket buffers at most. */
    assert_true(sent < HUGE_BYTES / 2);
    assert_true(server_memory(server) - before <
                (is_sanitized() ? 8 : 2) * (size_t)MB);
    /* Once it reads it gets all of that. */
    for (size_t left = sent; left > 0;) {
        size_t step = left < BLOCK ? left : BLOCK;

        if (client_take(peer, step) < step)
            flunk("%zu bytes are lost", left);
        client_skip(peer, step);
        left -= step;
    }
}

/* --- Ends ---------------------------------------------------------------- */

/* With or without a reset. */
static void go(struct client *client, int how)
{
    if (how == 0)
        client_close(client);
    else
        client_reset(client);
}

TEST_WITH(who_goes_is_not_waited_for, NULL, harness_after_test)
{
    static const struct {
        const char *asked;
        const char *answered;
    } cases[] = {
        {GET, NULL},
        {GET, "HTTP/1.1 20"},
        {GET, OK "Content-Length: 100\r\n\r\nhi"},
        {GET, OK "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhi", NULL},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhi",
         OK "Content-Length: 100\r\n\r\nhi"},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
         "2\r\nhi\r\n",
         NULL},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-request-buffer=0",
                                  "--proxy-fails=1", "--proxy-eject=60m",
                                  "--proxy-eject-max=60m");

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", cases[i / 2].asked);
        peer = upstream_asked(upstream, client, cases[i / 2].asked);
        if (cases[i / 2].answered)
            client_say(peer, "%s", cases[i / 2].answered);
        go(client, (int)(i % 2));
        hear_end(peer);
        client_close(peer);
    }
    assert_true(strstr(read_text(server->errors, NULL), "upstream") == NULL);
}

/* It closes with the body unread, which resets the connection: the answer was
 * there before. */
TEST_WITH(an_early_refusal_survives_its_connection, NULL, harness_after_test)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    char *block = scratch(MB);

    memset(block, 'x', MB);
    for (int i = 0; i < 10; i++) {
        struct client *client = client_open(server);
        struct client *peer;

        client_say(client,
                   "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
                   2 * MB);
        client_send(client, block, 256 * KB);
        peer = upstream_accept(upstream);
        hear_head(peer);
        client_say(peer, "HTTP/1.1 413 No\r\n" DATE
                         "Connection: close\r\nContent-Length: 2\r\n\r\nno");
        client_close(peer);
        client_send(client, block, MB); /* or not */
        expect_status(client_reply(client), 413);
        client_close(client);
    }
}

/* Sends all, and lets the client take only as much as it must for that: the
 * rest then waits everywhere on the way. */
static void send_past(struct client *client, struct client *peer,
                      const char *data, size_t len)
{
    size_t taken = 0;

    for (size_t at = 0; at < len;) {
        struct pollfd out = {client_socket(peer), POLLOUT, 0};
        size_t step = len - at < NARROW ? len - at : NARROW;

        if (poll(&out, 1, 0) == 0) {
            client_take(client, taken += NARROW);
        } else {
            assert_true(client_send(peer, data + at, step));
            at += step;
        }
    }
}

/* The reply waits, and behind it the end of its connection. The next request
 * must not get this connection, since a POST is not tried again. */
TEST_WITH(an_ended_connection_behind_a_paused_reply_is_not_kept, NULL,
          harness_after_test)
{
    enum { BYTES = 8 * MB };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    char *text = scratch(BYTES + 100);
    int begin = snprintf(text, 100, "%x\r\n", BYTES);

    seeded_fill(7, 0, text + begin, BYTES);
    memcpy(text + begin + BYTES, "\r\n0\r\n\r\n", 7);
    for (int i = 0; i < 5; i++) {
        struct client *client = client_open_narrow(server, NARROW);
        struct client *peer;

        client_say(client, GET "POST / HTTP/1.1\r\nHost: a\r\n"
                               "Content-Length: 2\r\n\r\nhi");
        peer = upstream_accept(upstream);
        hear_head(peer);
        client_say(peer, OK "Transfer-Encoding: chunked\r\n\r\n");
        send_past(client, peer, text, (size_t)begin + BYTES + 7);
        client_close(peer);
        expect_seeded(client_reply(client), 7, 0, BYTES);
        peer = upstream_accept(upstream);
        hear_head(peer);
        client_say(peer, OK "Content-Length: 0\r\n\r\n");
        expect_status(client_reply(client), 200);
        client_close(client);
        client_close(peer);
    }
}

SUITE(.begin = harness_begin, .end = harness_end,
      .each_end = origins_after_test);
