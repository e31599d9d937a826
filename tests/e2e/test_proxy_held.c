/*
 * Bodies that come slowly: no upstream is asked before they are there, or there
 * is more than is kept.
 */
#include "upstream.h"

static void send_some(struct client *client, size_t len)
{
    char *block = scratch(len);

    memset(block, 'x', len);
    assert_true(client_send(client, block, len));
}

/* Begins a body of that length. */
static void post(struct client *client, size_t length)
{
    client_say(client,
               "POST / HTTP/1.1\r\nHost: a\r\n"
               "Content-Length: %zu\r\n\r\n",
               length);
}

/* Nobody is asked before the last of those bytes is there. */
static void expect_held(const struct upstream *upstream, struct client *client,
                        size_t len)
{
    send_some(client, len - 1);
    assert_false(upstream_hears(upstream, 200));
    send_some(client, 1);
    hear_head(upstream_accept(upstream));
}

static const struct held {
    const char *first; /* nobody is asked for that */
    const char *rest;
    const char *heard;
} held[] = {
    {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc", "defghij",
     "POST / HTTP/1.1\r\nHost: a\r\n" ASKER "Content-Length: 10\r\n\r\n"
     "abcdefghij"},
    {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
     "3\r\nabc\r\n",
     "0\r\n\r\n",
     "POST / HTTP/1.1\r\nHost: a\r\n" ASKER
     "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
};

TEST(a_body_that_trickles_asks_nobody)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);

    for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", held[i].first);
        client_say(client, "%s", held[i].first);
        assert_false(upstream_hears(upstream, 200));
        client_say(client, "%s", held[i].rest);
        peer = upstream_accept(upstream);
        expect_hears(peer, held[i].heard);
        expect_hi(peer, client);
        client_close(client);
        client_close(peer);
    }
}

TEST(a_client_that_goes_before_asked_nobody)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client;

    for (int how = 0; how < 2; how++) {
        client = client_open(server);
        client_say(client, "%s", held[0].first);
        pause_ms(20);
        if (how == 0)
            client_close(client);
        else
            client_reset(client);
    }
    client = client_open(server);
    client_say(client, "%s", held[0].first);
    client_half_close(client);
    client_expect_end(client);
    assert_false(upstream_hears(upstream, 100));
}

/* Who sends more than is kept, or wants to be told whether to send, is heard
 * while it sends. */
TEST(more_than_is_kept_is_asked_for_before_it_ends)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct server *small = PROXY(upstream, "--proxy-request-buffer=1000");
    struct client *client = client_open(server);

    post(client, 65537);
    send_some(client, 65536);
    hear_head(upstream_accept(upstream));
    client = client_open(server);
    post(client, 65536);
    expect_held(upstream, client, 65536);
    client = client_open(small);
    post(client, 1001);
    expect_held(upstream, client, 1000);
    client = client_open(server);
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n"
                       "Expect: 100-continue\r\n\r\n");
    hear_head(upstream_accept(upstream));
}

static void send_chunks(struct client *client, unsigned count)
{
    while (count-- > 0) {
        client_say(client, "3e8\r\n");
        send_some(client, 1000);
        client_say(client, "\r\n");
    }
}

/* However much is still to come of it. */
TEST(all_that_is_kept_is_waited_for)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    post(client, 100000);
    send_some(client, 60000);
    assert_false(upstream_hears(upstream, 200));
    send_some(client, 5535);
    assert_false(upstream_hears(upstream, 200));
    send_some(client, 1);
    peer = upstream_accept(upstream);
    hear_head(peer);
    send_some(client, 100000 - 65536);
    assert_true(client_take(peer, 100000) == 100000);
    expect_hi(peer, client);
    client_close(peer);
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n");
    send_chunks(client, 60);
    assert_false(upstream_hears(upstream, 200));
    send_chunks(client, 10);
    peer = upstream_accept(upstream);
    hear_head(peer);
    client_say(client, "0\r\n\r\n");
    assert_int_equal(strlen(hear_chunks(peer)), 70000);
    expect_hi(peer, client);
}

/* More than the buffer has room for is never waited for, nor lost. */
TEST(a_full_buffer_is_enough)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-request-buffer=1M");
    struct client *client = client_open(server);
    struct client *peer;

    post(client, 1000000);
    send_some(client, 65535);
    assert_false(upstream_hears(upstream, 200));
    send_some(client, 1000000 - 65535);
    peer = upstream_accept(upstream);
    hear_head(peer);
    assert_true(client_take(peer, 1000000) == 1000000);
    expect_hi(peer, client);
}

/* A worker has 16 MiB for what waits: with that, the next byte of any asks. */
TEST(many_that_wait_are_passed_on_in_the_end)
{
    enum { KEPT = 65000, CROWD = 16 * 1024 * 1024 / KEPT };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *crowd[CROWD];
    struct client *client;

    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = client_open(server);
        post(crowd[i], 10000000);
        send_some(crowd[i], KEPT);
    }
    assert_false(upstream_hears(upstream, 200));
    for (size_t i = 0; i < 2; i++) {
        client = client_open(server);
        post(client, 10000000);
        send_some(client, KEPT);
        hear_head(upstream_accept(upstream));
    }
    for (size_t i = 0; i < CROWD; i++) /* and there is room again */
        client_close(crowd[i]);
    pause_ms(100);
    client = client_open(server);
    client_say(client, "%s", held[0].first);
    assert_false(upstream_hears(upstream, 200));
}

E2E_SUITE(harness_begin);
