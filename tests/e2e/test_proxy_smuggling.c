/*
 * Nobody gets a request or a reply past the server that it has not seen: what
 * two readers could take for different messages ends here, and so does the
 * connection that it came on. The cases of requests are those of the framing
 * tests, each of which is passed on to an origin too (raw_case.h); here are
 * those that take a second connection.
 */
#include "origin.h"
#include "upstream.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

/* --- Replies that are not one -------------------------------------------- */

TEST(a_reply_that_can_be_read_in_two_ways_is_refused)
{
    static const char *const replies[] = {
        OK "Content-Length: 2\r\n" CHUNKED "\r\n2\r\nhi\r\n0\r\n\r\n",
        OK CHUNKED "Content-Length: 2\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        OK "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
        OK "Content-Length: 2, 3\r\n\r\nhi!",
        OK "Content-Length: +2\r\n\r\nhi",
        OK "Content-Length: 0x2\r\n\r\nhi",
        OK "Content-Length: -2\r\n\r\nhi",
        OK "Content-Length: 2 2\r\n\r\nhi",
        OK "Content-Length: 18446744073709551618\r\n\r\nhi",
        OK "Content-Length:\r\n\r\nhi",
        OK "Content-Length : 2\r\n\r\nhi",
        OK "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        OK "Transfer-Encoding: xchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        OK "Transfer-Encoding: identity\r\n\r\nhi",
        OK CHUNKED CHUNKED "\r\n2\r\nhi\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n" CHUNKED "\r\n2\r\nhi\r\n0\r\n\r\n",
        OK "X: a\r\n b\r\nContent-Length: 2\r\n\r\nhi",
        OK " X: a\r\nContent-Length: 2\r\n\r\nhi",
        OK "X\r\nContent-Length: 2\r\n\r\nhi",
        OK ": a\r\nContent-Length: 2\r\n\r\nhi",
        OK "X: a\rContent-Length: 0\r\n\r\nhi",
        OK "X: a\nContent-Length: 2\r\n\r\nhi",
        OK "X: a\x01\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 204 None\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 204 None\r\n" CHUNKED "\r\n0\r\n\r\n",
        "HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 600 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "ICY 200 OK\r\n\r\nhi",
        "\r\nhi",
        "<html>hi</html>\r\n\r\n",
        GET "\r\n",
        "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\n"
        "Upgrade: websocket\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nhi" HI,
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-fails=0");

    for (size_t i = 0; i < COUNT(replies); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", replies[i]);
        peer = upstream_asked(upstream, client, GET "\r\n");
        client_say(peer, "%s", replies[i]);
        expect_status(client_reply(client), 502);
        hear_end(peer);
        client_close(client);
        client_close(peer);
    }
}

/* Said with the next request's answer in mind. */
TEST(what_follows_a_reply_answers_nobody)
{
    static const struct {
        const char *asked;
        const char *said;
        unsigned status;
    } cases[] = {
        {GET "\r\n", HI OK "Content-Length: 4\r\n\r\nevil", 200},
        {GET "\r\n", OK CHUNKED "\r\n0\r\n\r\n" OK "\r\n", 200},
        {GET "\r\n", "HTTP/1.1 204 None\r\n" DATE "\r\nevil", 204},
        {GET "\r\n", "HTTP/1.1 304 Old\r\n" DATE "\r\nevil", 304},
        {"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
         OK "Content-Length: 4\r\n\r\nevil", 200},
        {"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
         OK CHUNKED "\r\n4\r\nevil\r\n0\r\n\r\n", 200},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct client *client = client_open(server);
        struct client *peer;
        struct reply *reply;

        going_on("%s", cases[i].said);
        peer = upstream_asked(upstream, client, cases[i].asked);
        client_say(peer, "%s", cases[i].said);
        reply = *cases[i].asked == 'H' ? client_reply_to_head(client)
                                       : client_reply(client);
        expect_status(reply, cases[i].status);
        hear_end(peer);
        /* The next one is asked over another connection. */
        peer = upstream_asked(upstream, client, GET "\r\n");
        expect_hi(peer, client);
        client_close(client);
        client_close(peer);
    }
}

/* One read takes the reply, and has no room for what follows. */
TEST(what_follows_a_reply_as_long_as_the_buffer_answers_nobody)
{
    static const char head[] = OK "Content-Length: %d\r\n\r\n";
    static const char more[] = OK "Content-Length: 4\r\n\r\nevil";
    enum { ROOM = 32768 + 4096, BODY = ROOM - (sizeof(head) - 1 + 3) };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-buffer=32768");
    struct client *client = client_open(server);
    struct client *peer = upstream_asked(upstream, client,
                                         GET "\r\n" GET "\r\n");
    char text[ROOM + sizeof(more) - 1];

    memset(text, 'x', ROOM);
    text[snprintf(text, ROOM, head, BODY)] = 'x'; /* "%d" is five digits */
    memcpy(text + ROOM, more, sizeof(more) - 1);
    client_send(peer, text, sizeof(text));
    expect_status(client_reply(client), 200);
    hear_end(peer);
    peer = upstream_accept(upstream);
    hear_head(peer);
    expect_hi(peer, client);
}

/* --- Requests that end early --------------------------------------------- */

/* What is said before anything was asked cannot be a reply. */
TEST(an_answer_before_the_question_is_none)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client, GET "\r\n");
    expect_hi(peer, client);
    client_say(peer, OK "Content-Length: 4\r\n\r\nevil");
    hear_end(peer);
    peer = upstream_asked(upstream, client, GET "\r\n");
    expect_hi(peer, client);
}

TEST(half_a_body_is_not_followed_by_another_request)
{
    static const char *const begun[] = {
        POST "Content-Length: 10\r\n\r\nhello",
        POST CHUNKED "\r\na\r\nhello",
        POST CHUNKED "\r\n5\r\nhello\r\n",
        POST CHUNKED "\r\n5\r\nhelloX\n0\r\n\r\n",
        POST CHUNKED "\r\n5\r\nhello\r\n0\r\nX y\r\n\r\n",
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);

    for (size_t i = 0; i < COUNT(begun); i++) {
        struct client *client = client_open(server);
        struct client *other = client_open(server);
        struct client *peer;
        size_t bytes;

        going_on("%s", begun[i]);
        client_say(client, "%s", begun[i]);
        client_half_close(client);
        /* Some are refused before anybody was asked. */
        client_say(other, GET "\r\n");
        peer = upstream_accept(upstream);
        if (strncmp(hear_head(peer), "POST", 4) == 0) {
            bytes = client_take(peer, SIZE_MAX);
            if (bytes > 0 && memmem(client_raw(peer), bytes, "GET", 3))
                flunk("the next request is in its body");
            if (bytes > 0 && memmem(client_raw(peer), bytes, "0\r\n\r\n", 5))
                flunk("it was made whole");
            client_skip(peer, bytes);
            client_expect_end(peer);
            peer = upstream_accept(upstream);
            hear_head(peer);
        }
        expect_hi(peer, other);
        client_close(peer);
        client_close(client);
        client_close(other);
    }
}

/* The upstream has answered, but may still be waiting for the body. */
TEST(an_early_answer_ends_the_upstreams_connection)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-request-buffer=0");
    struct client *client = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, client,
                          POST "Content-Length: 100\r\n\r\nhello");
    expect_hears(peer, "hello");
    expect_hi(peer, client);
    client_close(client);
    hear_end(peer);
    client = client_open(server);
    client_say(client, GET "\r\n");
    peer = upstream_accept(upstream);
    expect_hears(peer, GET ASKER "\r\n");
    expect_hi(peer, client);
}

/* Some servers take credentials of these kinds for all that comes over the
 * connection: the next client would be taken for the one before. */
TEST(credentials_of_a_connection_end_with_their_request)
{
    static const char *const bound[] = {
        "Authorization: NTLM TlRMTVNTUAADAAAA\r\n",
        "Authorization: ntlm TlRMTVNTUAADAAAA\r\n",
        "Authorization: Negotiate YIIB\r\n",
        "Authorization: Basic YTpi\r\nAuthorization: NTLM TlRM\r\n",
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *peer;

    for (size_t i = 0; i < COUNT(bound); i++) {
        struct client *client = client_open(server);
        struct client *other = client_open(server);

        going_on("%s", bound[i]);
        peer = upstream_asked(upstream, client,
                              printed(GET "%s\r\n", bound[i]));
        expect_hi(peer, client);
        hear_end(peer);
        peer = upstream_asked(upstream, other, GET "\r\n");
        expect_hi(peer, other);
        client_say(other, GET "Authorization: Basic YTpi\r\n\r\n");
        expect_hears(peer, GET "Authorization: Basic YTpi\r\n" ASKER "\r\n");
        expect_hi(peer, other); /* as others go on over the same one */
        client_close(client);
        client_close(other);
        client_close(peer);
    }
}

/* --- Many at once -------------------------------------------------------- */

/* Who asks over a connection that others have used gets what was asked for. */
TEST_WITH(answers_are_never_mixed_up, NULL, origins_after_test)
{
    enum { CLIENTS = 32, ROUNDS = 60, BYTES_MAX = 40000 };
    struct origin *origin = origin_start("origin");
    struct server *server = START(printed("--proxy=/=%s", origin->at),
                                  "--workers=2", "--proxy-keepalive=4");
    struct client *clients[CLIENTS];
    unsigned rounds = ROUNDS / slowness();

    for (size_t i = 0; i < CLIENTS; i++)
        clients[i] = client_open(server);
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < CLIENTS; i++)
            client_say(clients[i],
                       "GET /%s/%zu/%zu HTTP/1.1\r\nHost: a\r\n\r\n",
                       (i + round) % 3 == 0 ? "chunks" : "bytes",
                       i + round * CLIENTS, (i * 7919 + round) % BYTES_MAX);
        for (size_t i = 0; i < CLIENTS; i++) {
            if ((i + round) % 11 == 0) { /* gone, whatever comes */
                client_close(clients[i]);
                clients[i] = client_open(server);
                continue;
            }
            expect_seeded(client_reply(clients[i]), i + round * CLIENTS, 0,
                          (i * 7919 + round) % BYTES_MAX);
        }
    }
    origin_check(origin);
}

E2E_SUITE(harness_begin);
