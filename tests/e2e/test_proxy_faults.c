/*
 * Upstreams that misbehave: what their clients are told, and that nobody else
 * notices.
 */
#include <sys/socket.h>

#include "upstream.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n"

static void expect_fault(struct client *client, unsigned status,
                         const char *token)
{
    struct reply *reply = client_reply(client);

    expect_status(reply, status);
    assert_non_null(reply_field(reply, "Proxy-Status"));
    if (!strstr(reply_field(reply, "Proxy-Status"), token))
        flunk("'%s' instead of '%s'", reply_field(reply, "Proxy-Status"),
              token);
    assert_int_not_equal(reply->body_len, 0);
    if (status == 503)
        assert_non_null(reply_field(reply, "Retry-After"));
}

/* Asks, and hears what the upstream does. */
static struct client *ask_over(const struct upstream *upstream,
                               struct client *client)
{
    struct client *peer;

    peer = upstream_asked(upstream, client, GET);
    return peer;
}

static void expect_served(const struct server *server,
                          const struct upstream *upstream)
{
    struct client *client = client_open(server);
    struct client *peer = ask_over(upstream, client);

    expect_hi(peer, client);
    client_close(client);
    client_close(peer);
}

static bool has_logged(const struct server *server, const char *part)
{
    return strstr(read_text(server->errors, NULL), part) != NULL;
}

/* --- No connection ------------------------------------------------------- */

TEST(who_refuses_is_answered_for_with_502)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);

    upstream_shut(upstream);
    client_say(client, GET);
    expect_fault(client, 502, "connection_refused");
    assert_true(eventually(has_logged(server,
                                      printed("127.0.0.1:%u", upstream->port)),
                           2000));
    upstream_listen(upstream);
    /* The same client may go on. */
    client_say(ask_over(upstream, client), HI);
    expect_body(client_reply(client), "hi");
}

TEST(who_lets_nobody_in_is_answered_for_with_504)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-connect-timeout=300ms");
    struct client *client = client_open(server);

    upstream_clog(upstream);
    client_say(client, GET);
    expect_fault(client, 504, "connection_timeout");
}

TEST(a_name_without_address_is_no_error_of_start)
{
    struct server *server = START("--proxy=/=http://nobody.invalid:1",
                                  "--proxy-connect-timeout=500ms");
    struct reply *reply = get(server, "/");

    /* By how soon whoever resolves names says so. */
    if (reply->status != 504)
        expect_status(reply, 502);
}

/* --- No reply ------------------------------------------------------------ */

TEST(silence_is_answered_for_with_504)
{
    static const char *const begun[] = {"", "HTTP/1.1 200", OK,
                                        OK "Content-Length: 5\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-timeout=300ms",
                                  "--proxy-fails=0");

    for (size_t i = 0; i < COUNT(begun); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", begun[i]);
        peer = ask_over(upstream, client);
        client_say(peer, "%s", begun[i]);
        expect_fault(client, 504, "http_response_timeout");
        hear_end(peer);
        expect_served(server, upstream);
    }
}

TEST(an_end_without_a_head_is_answered_for_with_502)
{
    static const char *const begun[] = {"", "H", OK,
                                        OK "Content-Length: 5\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0");

    for (size_t i = 0; i < 2 * COUNT(begun); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", begun[i / 2]);
        peer = ask_over(upstream, client);
        client_say(peer, "%s", begun[i / 2]);
        if (i % 2 == 0) {
            client_close(peer);
        } else {
            pause_ms(5); /* or the reset may overtake what was said */
            client_reset(peer);
        }
        expect_fault(client, 502, "http_response_incomplete");
        expect_served(server, upstream);
    }
}

TEST(heads_without_end_are_answered_for_with_502)
{
    static const struct {
        const char *first;
        const char *again;
    } floods[] = {
        {"HTTP/1.1 200 ", "x"},
        {OK "X: ", "y"},
        {OK, "X: y\r\n"},
        {OK, "X-A-Longer-Name-Than-The-Others: and a longer value\r\n"},
        {"", "HTTP/1.1 103 Early Hints\r\n\r\n"},
        {"", "HTTP/1.1 100 Continue\r\n\r\n"},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0");

    for (size_t i = 0; i < COUNT(floods); i++) {
        struct client *client = client_open(server);
        size_t len = strlen(floods[i].again);
        struct client *peer;
        struct reply *reply;

        going_on("%s%s", floods[i].first, floods[i].again);
        peer = ask_over(upstream, client);
        client_say(peer, "%s", floods[i].first);
        for (size_t sent = 0; sent < (size_t)100 * 1024; sent += len)
            if (!client_say(peer, "%s", floods[i].again))
                break;
        do
            reply = client_reply(client);
        while (reply->status < 200);
        expect_status(reply, 502);
        hear_end(peer);
        expect_served(server, upstream);
    }
}

TEST(many_interim_heads_are_no_fault)
{
    enum { INTERIM_MAX = 8 };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer = ask_over(upstream, client);

    for (int i = 0; i < INTERIM_MAX; i++) {
        client_say(peer, "HTTP/1.1 103 Early Hints\r\n\r\n");
        expect_status(client_reply(client), 103);
    }
    expect_hi(peer, client);
}

/* --- Half a reply -------------------------------------------------------- */

static const char *const halves[] = {
    OK "Content-Length: 5\r\n\r\n",
    OK "Content-Length: 5\r\n\r\nhell",
    OK CHUNKED,
    OK CHUNKED "5\r\nhell",
    OK CHUNKED "5\r\nhello",
    OK CHUNKED "5\r\nhello\r\n",
    OK CHUNKED "5\r\nhello\r\n0\r\n",
    OK CHUNKED "5\r\nhello\r\n0\r\nX: y\r\n",
};

static void expect_half(struct client *client)
{
    struct reply *reply;
    enum client_event event = client_try(client, false, &reply);

    if (event != CLIENT_BROKEN)
        flunk("event %d instead of half a reply", (int)event);
}

TEST(half_a_reply_is_never_made_whole)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0",
                                  "--proxy-idle-timeout=300ms");

    for (size_t i = 0; i < 2 * COUNT(halves); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", halves[i / 2]);
        peer = ask_over(upstream, client);
        client_say(peer, "%s", halves[i / 2]);
        if (i % 2 == 0) /* else it falls silent */
            client_close(peer);
        expect_half(client);
        client_close(peer);
        expect_served(server, upstream);
    }
}

TEST(bad_chunks_break_the_reply_off)
{
    static const char *const bad[] = {
        "g\r\n",
        "5\nhello\r\n",
        "5\r\nhelloX\r\n",
        "-5\r\nhello\r\n",
        "5 \r\nhello",
        "0x5\r\nhello",
        "\r\n",
        "5;\r\nhello\r\n",
        "0\r\nX\r\n\r\n",
        "0\r\n X: y\r\n\r\n",
        "ffffffffffffffff0\r\n",
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0");

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", bad[i]);
        peer = ask_over(upstream, client);
        client_say(peer, OK CHUNKED "2\r\nhi\r\n");
        client_take(client, 1); /* the head is on its way */
        client_say(peer, "%s", bad[i]);
        expect_half(client);
        hear_end(peer);
        expect_served(server, upstream);
    }
}

/* Who reads until the end has only the way it ends to go by. */
TEST(old_clients_learn_of_half_a_reply_by_a_reset)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    char text[4096];
    struct client *peer;
    ssize_t n = 1;

    peer = upstream_asked(upstream, client, "GET / HTTP/1.0\r\n\r\n");
    client_say(peer, OK CHUNKED "5\r\nhello\r\n");
    client_skip(client, client_take(client, 1));
    client_take(client, 0);
    client_close(peer);
    while (n > 0) {
        assert_true(client_hears(client, patience(10000)));
        n = recv(client_socket(client), text, sizeof(text), 0);
    }
    assert_int_equal(n, -1);
    assert_int_equal(errno, ECONNRESET);
}

/* --- The others ---------------------------------------------------------- */

TEST(one_that_hangs_holds_nobody_up)
{
    enum { HUNG = 24 };
    static const char *const begun[] = {"", "HTTP/1.1 2", OK,
                                        OK "Content-Length: 5\r\n\r\nhell",
                                        OK CHUNKED "5\r\nhe"};
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *clients[HUNG];
    struct client *peers[HUNG];

    for (size_t i = 0; i < HUNG; i++) {
        clients[i] = client_open(server);
        peers[i] = ask_over(upstream, clients[i]);
        client_say(peers[i], "%s", begun[i % COUNT(begun)]);
    }
    for (int i = 0; i < 20; i++)
        expect_served(server, upstream);
    assert_true(server_cpu_ms(server) < patience(1000));
    /* And they come to life again. */
    for (size_t i = 0; i < HUNG; i++) {
        client_say(peers[i], "%s",
                   (const char *const[]){HI,
                                         "00 OK\r\nContent-Length: 2\r\n"
                                         "\r\nhi",
                                         "Content-Length: 2\r\n\r\nhi", "o",
                                         "llo\r\n0\r\n\r\n"}[i % COUNT(begun)]);
        expect_status(client_reply(clients[i]), 200);
    }
}

TEST(byte_by_byte_is_as_good_as_any)
{
    static const char reply[] = "HTTP/1.1 103 Early Hints\r\n\r\n" OK CHUNKED
                                "2\r\nhi\r\n0001\r\n!\r\n0\r\nX: y\r\n\r\n";
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);

    client_drip(ask_over(upstream, client), reply, sizeof(reply) - 1);
    expect_status(client_reply(client), 103);
    expect_body(client_reply(client), "hi!");
}

TEST(nothing_is_left_behind)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0",
                                  "--proxy-timeout=200ms");
    size_t descriptors;

    expect_served(server, upstream);
    descriptors = server_descriptors(server);
    for (size_t i = 0; i < 40; i++) {
        struct client *client = client_open(server);
        struct client *peer = ask_over(upstream, client);

        client_say(peer, "%s", halves[i % COUNT(halves)]);
        if (i % 3 == 0)
            client_close(peer);
        else if (i % 3 == 1)
            client_reset(client);
        else
            client_close(client);
        client_close(peer);
        client_close(client);
    }
    assert_true(eventually(server_descriptors(server) <= descriptors, 5000));
}

E2E_SUITE(harness_begin);
