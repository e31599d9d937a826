/*
 * Bodies that come slowly: no upstream is asked before they are there, or there
 * is more than is kept.
 */
#include "upstream.h"

#define HI OK "Content-Length: 2\r\n\r\nhi"

static void send_some(struct client *client, size_t len)
{
    char *block = scratch(len);

    memset(block, 'x', len);
    assert_true(client_send(client, block, len));
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

static void a_body_that_trickles_asks_nobody(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", held[i].first);
        client_say(client, "%s", held[i].first);
        assert_false(upstream_hears(upstream, 200));
        client_say(client, "%s", held[i].rest);
        peer = upstream_accept(upstream);
        expect_hears(peer, held[i].heard);
        client_say(peer, HI);
        expect_body(client_reply(client), "hi");
        client_close(client);
        client_close(peer);
    }
}

static void a_client_that_goes_before_asked_nobody(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client;

    (void)state;
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
static void more_than_is_kept_is_asked_for_before_it_ends(void **state)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct server *small = PROXY(upstream, "--proxy-request-buffer=1000");
    struct client *client = client_open(server);

    (void)state;
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 65537\r\n\r\n");
    send_some(client, 65536);
    hear_head(upstream_accept(upstream));
    client = client_open(server);
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 65536\r\n\r\n");
    send_some(client, 65535);
    assert_false(upstream_hears(upstream, 200));
    client_say(client, "x");
    hear_head(upstream_accept(upstream));
    client = client_open(small);
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 1001\r\n\r\n");
    send_some(client, 999);
    assert_false(upstream_hears(upstream, 200));
    client_say(client, "x");
    hear_head(upstream_accept(upstream));
    client = client_open(server);
    client_say(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n"
                       "Expect: 100-continue\r\n\r\n");
    hear_head(upstream_accept(upstream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        e2e_test(a_body_that_trickles_asks_nobody),
        e2e_test(a_client_that_goes_before_asked_nobody),
        e2e_test(more_than_is_kept_is_asked_for_before_it_ends),
    };

    return cmocka_run_group_tests(tests, harness_begin, harness_end);
}
