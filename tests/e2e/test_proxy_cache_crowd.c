/*
 * --proxy-cache: many who read what is being fetched, each at its own pace.
 */
#include "upstream.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

enum { KB = 1024, MB = 1024 * KB, SEED = 7, CROWD = 240 };

#define HEAD "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n"

/* Any client of one worker. */
#define START_CACHE(upstream, ...)                                        \
    START("--workers=1", printed("--proxy=/=%s", (upstream)->at),         \
          "--proxy-cache=memory", "--proxy-retries=0", "--proxy-fails=0", \
          __VA_ARGS__)

static int unread(const struct client *client)
{
    int bytes = 0;

    assert_int_equal(ioctl(client_socket(client), FIONREAD, &bytes), 0);
    return bytes;
}

static void ask_in(struct client *client)
{
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
}

/* Nothing is kept of that, says the server. */
static void expect_none(const struct server *server, const char *path)
{
    expect_status(client_ask_host(client_open(server), "GET", "a", path,
                                  "Cache-Control: only-if-cached\r\n"),
                  504);
}

/* Until one of those that wait has more than a first piece. Who asked first is
 * told first, and may have begun before. */
static void await_second_piece(struct client *const crowd[CROWD])
{
    for (int tries = 0; tries < 500000; tries++)
        for (size_t i = 1; i < CROWD; i++)
            if (unread(crowd[i]) > 20 * KB)
                return;
    flunk("nobody has a second piece");
}

TEST(all_who_wait_have_a_beginning_before_any_of_them_has_more)
{
    enum { BODY = 500 * KB };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *crowd[CROWD], *peer;
    char *body = scratch(BODY);

    seeded_fill(SEED, 0, body, BODY);
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = client_open(server);
        ask_in(crowd[i]);
    }
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    for (int i = 0; i < 2; i++) /* then the others wait: they came before */
        expect_none(server, "/b");
    client_say(peer, HEAD "Content-Length: %d\r\n\r\n", BODY);
    client_send(peer, body, BODY);
    await_second_piece(crowd);
    for (size_t i = 1; i < CROWD; i++)
        if (unread(crowd[i]) < 16 * KB)
            flunk("client %zu has %d bytes", i, unread(crowd[i]));
    for (size_t i = 0; i < CROWD; i++)
        expect_seeded(client_reply(crowd[i]), SEED, 0, BODY);
}

/* Sends what the server takes now; how much. */
static size_t send_some(const struct client *peer, const char *data, size_t len)
{
    size_t at = 0;

    while (at < len) {
        ssize_t sent = send(client_socket(peer), data + at, len - at,
                            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent <= 0)
            break;
        at += (size_t)sent;
    }
    return at;
}

/* What grows beyond what may be kept waits for its slowest reader, while more
 * comes from the upstream. */
TEST(who_reads_slowly_what_is_too_long_stops_nobody_else)
{
    enum { BODY = 48 * MB, STEP = 8 * KB, STEPS = 150 };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream,
                                        "--proxy-cache-max-object=100K");
    char *body = scratch(BODY);

    for (int round = 0; round < 3; round++) {
        struct client *slow = client_open_narrow(server, 4 * KB), *peer;
        size_t at = 0;

        ask_in(slow);
        peer = upstream_accept(upstream);
        (void)hear_head(peer);
        client_say(peer, HEAD "Transfer-Encoding: chunked\r\n\r\n%x\r\n", BODY);
        for (size_t step = 1; step <= STEPS; step++) {
            at += send_some(peer, body + at, BODY - at);
            client_take(slow, step * STEP);
            pause_ms(2);
        }
        client_close(slow);
        client_close(peer);
        expect_none(server, "/a"); /* the worker is well */
    }
}

/* What has been given up of a body that was too long is not what a 304 means. */
TEST(a_304_about_what_has_passed_meanwhile_is_asked_about_again)
{
    enum { BODY = 3 * MB, BEGINNING = 64 * KB };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream,
                                        "--proxy-cache-max-object=1M");
    struct client *first = client_open(server), *second, *peer, *again;
    char *body = scratch(BODY);
    size_t at = BEGINNING;

    seeded_fill(SEED, 0, body, BODY);
    ask_in(first);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer,
               HEAD "Connection: close\r\nETag: \"a\"\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n%x\r\n",
               BODY);
    client_send(peer, body, BEGINNING);
    client_take(first, BEGINNING);
    second = client_open(server);
    client_say(second,
               "GET /a HTTP/1.1\r\nHost: a\r\nCache-Control: no-cache\r\n\r\n");
    again = upstream_accept(upstream);
    if (!strstr(hear_head(again), "If-None-Match: \"a\""))
        flunk("it is not asked whether it is the same");
    while (at < BODY) {
        at += send_some(peer, body + at, BODY - at);
        client_take(first, at);
    }
    client_say(peer, "\r\n0\r\n\r\n");
    expect_seeded(client_reply(first), SEED, 0, BODY);
    client_say(again, "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n"
                      "ETag: \"a\"\r\nCache-Control: max-age=600\r\n\r\n");
    again = upstream_accept(upstream);
    if (strstr(hear_head(again), "If-None-Match"))
        flunk("what is gone is asked about once more");
    client_say(again, HEAD "Content-Length: 3\r\n\r\nnew");
    expect_body(client_reply(second), "new");
    expect_body(client_ask_host(client_open(server), "GET", "a", "/a", NULL),
                "new");
}

E2E_SUITE(harness_begin);
