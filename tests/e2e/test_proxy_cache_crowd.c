/*
 * --proxy-cache: many who read what is being fetched, each at its own pace, or
 * who leave.
 */
#include "h2_client.h"
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

        /* One that was too long is not begun for others again. */
        client_say(slow, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", round);
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

/* Else one who reads nothing could hold others back each time. */
TEST(who_asks_for_what_was_too_long_goes_at_his_own_pace)
{
    enum { BODY = 3 * MB, CHUNK = 300 * KB, BEGINNING = 50 * KB };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream,
                                        "--proxy-cache-max-object=100K");
    struct client *first = client_open(server), *peer, *stalled, *fast;
    char *body = scratch(BODY);

    seeded_fill(SEED, 0, body, BODY);
    ask_in(first);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HEAD "Transfer-Encoding: chunked\r\n\r\n%x\r\n", CHUNK);
    client_send(peer, body, CHUNK);
    client_say(peer, "\r\n0\r\n\r\n");
    expect_seeded(client_reply(first), SEED, 0, CHUNK);
    client_close(peer);
    stalled = client_open_narrow(server, 4 * KB);
    ask_in(stalled);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HEAD "Transfer-Encoding: chunked\r\n\r\n%x\r\n", BODY);
    client_send(peer, body, BEGINNING); /* is not too long yet */
    pause_ms(50);
    fast = client_open(server);
    ask_in(fast);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HEAD "Transfer-Encoding: chunked\r\n\r\n%x\r\n", BODY);
    client_send(peer, body, BODY);
    client_say(peer, "\r\n0\r\n\r\n");
    expect_seeded(client_reply(fast), SEED, 0, BODY);
}

/* Sends until the server takes no more for a while; how much. */
static size_t send_until_full(const struct client *peer, const char *data,
                              size_t len)
{
    size_t at = 0, before;

    do {
        before = at;
        for (int tries = 0; at == before && tries < 50; tries++) {
            at += send_some(peer, data + at, len - at);
            if (at == before)
                pause_ms(10);
        }
    } while (at > before && at < len);
    return at;
}

/* Of a connection that takes nothing no stream is asked for its answer. What it
 * has asked for waits for it all the same, and does not grow. */
TEST(who_takes_nothing_by_http2_holds_back_what_is_too_long)
{
    enum { BODY = 96 * MB, HELD_MAX = 32 * MB };
    const struct h2_setting window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                      INT32_MAX};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--http2=all",
                                        "--proxy-cache-max-object=1M");
    struct h2 *h2 = h2_open_narrow(server, 4 * KB);
    char *body = scratch(BODY);
    struct client *peer;
    size_t taken;

    h2_say(h2, H2_PREFACE, strlen(H2_PREFACE));
    h2_settings(h2, &window, 1);
    h2_window(h2, 0, 1 << 30);
    (void)h2_ask(h2, "GET", "/first", NULL, false);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HEAD "Content-Length: %d\r\n\r\n", BODY);
    if (send_until_full(peer, body, BODY) == BODY)
        flunk("the connection takes all");
    (void)h2_ask(h2, "GET", "/second", NULL, false);
    peer = upstream_accept(upstream);
    (void)hear_head(peer);
    client_say(peer, HEAD "Transfer-Encoding: chunked\r\n\r\n%x\r\n", BODY);
    taken = send_until_full(peer, body, BODY);
    if (taken > HELD_MAX)
        flunk("%zu bytes are held", taken);
    expect_none(server, "/a"); /* the worker is well */
}

/* --- Leaving ------------------------------------------------------------- */

static struct client *ask_by(const struct server *server,
                             const struct upstream *upstream, int number,
                             struct client **peer_out)
{
    struct client *client = client_open(server);

    client_say(client, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", number);
    *peer_out = upstream_accept(upstream);
    (void)hear_head(*peer_out);
    return client;
}

/* Else one that asks for anything, and stays for nothing, would have as many
 * connections at the upstream as it likes. */
TEST(who_leaves_before_the_answer_has_nothing_asked_for_any_more)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *peer;

    for (int i = 0; i < 20; i++) {
        client_reset(ask_by(server, upstream, i, &peer));
        hear_end(peer);
        client_close(peer);
    }
}

/* The first leaves for whom another waits, and then that one. */
TEST(what_two_have_left_ends_as_well)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *peers[4];

    for (int i = 0; i < 4; i++) {
        struct client *first = ask_by(server, upstream, i, &peers[i]);
        struct client *second = client_open(server);

        client_say(second, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
        expect_none(server, "/none"); /* it waits by then */
        client_reset(first);
        expect_none(server, "/none");
        assert_false(client_hears(peers[i], 0));
        client_reset(second);
    }
    for (int i = 0; i < 4; i++)
        hear_end(peers[i]);
}

/* What has begun to come is fetched to its end for those who come later, but
 * not without bound. */
TEST(of_answers_that_nobody_reads_any_more_some_go_on)
{
    enum { ASKED = 100, ON_MAX = 70, ON_MIN = 20 };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *peers[ASKED];
    int count = 0;

    for (int i = 0; i < ASKED; i++) {
        struct client *client = ask_by(server, upstream, i, &peers[i]);

        client_say(peers[i], HEAD "Content-Length: 100000\r\n\r\nhi");
        client_take(client, 80);
        client_reset(client);
    }
    pause_ms(200);
    for (int i = 0; i < ASKED; i++)
        count += !client_hears(peers[i], 0);
    if (count > ON_MAX || count < ON_MIN)
        flunk("%d of %d go on", count, ASKED);
}

TEST(of_answers_that_all_leave_at_once_some_go_on)
{
    enum { ASKED = 100, ON_MAX = 64 };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *clients[ASKED], *peers[ASKED];
    int count = ASKED;

    for (int i = 0; i < ASKED; i++) {
        clients[i] = ask_by(server, upstream, i, &peers[i]);
        client_say(peers[i], HEAD "Content-Length: 100000\r\n\r\nhi");
        client_take(clients[i], 80);
    }
    for (int i = 0; i < ASKED; i++)
        client_reset(clients[i]);
    for (int tries = 0; tries < 50 && count > ON_MAX; tries++) {
        pause_ms(100);
        count = 0;
        for (int i = 0; i < ASKED; i++)
            count += !client_hears(peers[i], 0);
    }
    if (count != ON_MAX)
        flunk("%d of %d go on", count, ASKED);
}

/* Nobody waits for what is asked for behind the clients' backs, and so nobody
 * would bound it. */
TEST(not_all_that_is_stale_is_asked_for_at_once)
{
    enum { STALE = 80, AT_ONCE = 64 };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    int asked = 0;

    for (int i = 0; i < STALE; i++) {
        struct client *first = ask_by(server, upstream, i, &peer);

        client_say(peer, "HTTP/1.1 200 OK\r\nConnection: close\r\n"
                         "Cache-Control: max-age=0, "
                         "stale-while-revalidate=600\r\nETag: \"a\"\r\n"
                         "Content-Length: 2\r\n\r\nhi");
        expect_body(client_reply(first), "hi");
        client_close(first);
        client_close(peer);
    }
    for (int i = 0; i < STALE; i++) {
        expect_body(client_ask_host(client, "GET", "a", printed("/%d", i),
                                    NULL),
                    "hi");
        while (upstream_hears(upstream, asked < AT_ONCE ? 20 : 0)) {
            (void)upstream_accept(upstream);
            asked++;
        }
    }
    assert_int_equal(asked, AT_ONCE);
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
