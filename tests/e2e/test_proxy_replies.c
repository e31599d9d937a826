/*
 * Replies as the client gets them, byte for byte (RFC 9110 7.6 and 15.2, RFC
 * 9112).
 */
#include "talk.h"

TEST(a_reply_is_made_anew)
{
    static const struct talk talks[] = {
        {.name = "fields",
         .said = "HTTP/1.1 299 Quite fine\r\nX:1\r\nServer: up/1\r\n" DATE
                 "Set-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 2\r\n"
                 "\r\nhi",
         .answered = "HTTP/1.1 299 Quite fine\r\nX: 1\r\nServer: up/1\r\n" DATE
                     "Set-Cookie: a\r\nSet-Cookie: b\r\n" VIA
                     "Content-Length: 2\r\n\r\nhi"},
        {.name = "one connection only",
         .said = OK "Connection: close, X-A\r\nX-A: 1\r\n"
                    "Keep-Alive: timeout=5\r\nProxy-Connection: close\r\n"
                    "Upgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"},
        {.name = "no reason",
         .said = "HTTP/1.1 200 \r\n" DATE "Content-Length: 2\r\n\r\nhi",
         .answered = "HTTP/1.1 200 \r\n" DATE VIA
                     "Content-Length: 2\r\n\r\nhi"},
        {.name = "an error's body is the upstream's",
         .said = "HTTP/1.1 503 No\r\n" DATE "Retry-After: 7\r\n"
                 "Content-Length: 2\r\n\r\nno",
         .answered = "HTTP/1.1 503 No\r\n" DATE "Retry-After: 7\r\n" VIA
                     "Content-Length: 2\r\n\r\nno"},
        {.name = "chunks",
         .said = OK CHUNKED "\r\n2;x=y\r\nh",
         .said_later = "i\r\n0001\r\n!\r\n0\r\n\r\n",
         .answered = OK VIA CHUNKED "\r\n",
         .answered_chunks = "hi!"},
        {.name = "chunks that are there at once",
         .said = OK CHUNKED "\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n",
         .answered = OK VIA "Content-Length: 3\r\n\r\nhi!"},
        {.name = "until the end",
         .said = OK "\r\nhel",
         .said_later = "lo",
         .upstream_ends = true,
         .answered = OK VIA CHUNKED "\r\n",
         .answered_chunks = "hello"},
        {.name = "HTTP/1.0, until the end",
         .said = "HTTP/1.0 200 OK\r\n" DATE "\r\nhel",
         .said_later = "lo",
         .upstream_ends = true,
         .answered = OK "Via: 1.0 sprintd\r\n" CHUNKED "\r\n",
         .answered_chunks = "hello"},
        {.name = "HTTP/1.0, length",
         .said = "HTTP/1.0 200 OK\r\n" DATE "Content-Length: 2\r\n\r\nhi",
         .answered = OK "Via: 1.0 sprintd\r\nContent-Length: 2\r\n\r\nhi"},
        {.name = "nothing",
         .said = OK "Content-Length: 0\r\n\r\n",
         .answered = OK VIA "Content-Length: 0\r\n\r\n"},
        {.name = "chunks of nothing",
         .said = OK CHUNKED "\r\n0",
         .said_later = "\r\n\r\n",
         .answered = OK VIA CHUNKED "\r\n",
         .answered_chunks = ""},
        {.name = "trailers for who reads them",
         .asked = GET "TE: trailers\r\n\r\n",
         .heard = GET ASKER "TE: trailers\r\nConnection: TE\r\n\r\n",
         .said = OK CHUNKED "Trailer: X\r\n\r\n2\r\nhi\r\n",
         .said_later = "0\r\nX: y\r\n"
                       "Content-Length: 9\r\nSet-Cookie: a\r\n\r\n",
         .answered = OK "Trailer: X\r\n" VIA CHUNKED "\r\n",
         .answered_chunks = "hiX: y\r\n"},
        {.name = "trailers for who does not",
         .said = OK CHUNKED "Trailer: X\r\n\r\n2\r\nhi\r\n",
         .said_later = "0\r\nX: y\r\n\r\n",
         .answered = OK VIA CHUNKED "\r\n",
         .answered_chunks = "hi"},
    };

    TALKS(talks);
}

TEST(replies_without_a_body_have_none)
{
    static const struct talk talks[] = {
        {.name = "HEAD",
         .asked = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
         .heard = "HEAD / HTTP/1.1\r\nHost: a\r\n" ASKER "\r\n",
         .said = OK "Content-Length: 99\r\n\r\n",
         .answered = OK VIA "Content-Length: 99\r\n\r\n"},
        {.name = "204",
         .said = "HTTP/1.1 204 None\r\n" DATE "\r\n",
         .answered = "HTTP/1.1 204 None\r\n" DATE VIA "\r\n"},
        {.name = "304",
         .said = "HTTP/1.1 304 Old\r\n" DATE "ETag: \"x\"\r\n"
                 "Content-Length: 9\r\n\r\n",
         .answered = "HTTP/1.1 304 Old\r\n" DATE "ETag: \"x\"\r\n" VIA
                     "Content-Length: 9\r\n\r\n"},
    };

    TALKS(talks);
}

TEST(old_clients_get_what_they_understand)
{
#define OLD "GET / HTTP/1.0\r\nHost: a\r\n"
#define OLD_HEARD                                            \
    GET "Via: 1.0 sprintd\r\nX-Forwarded-For: 127.0.0.1\r\n" \
        "X-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n" \
        "Forwarded: for=127.0.0.1;proto=http;host=a\r\n\r\n"
    static const struct talk talks[] = {
        {.name = "chunks",
         .asked = OLD "Connection: keep-alive\r\n\r\n",
         .heard = OLD_HEARD,
         .said = OK CHUNKED "\r\n2\r\nhi\r\n",
         .said_later = "1\r\n!\r\n0\r\n\r\n",
         .answered = OK VIA "Connection: close\r\n\r\nhi",
         .answered_later = "!",
         .client_ends = true},
        {.name = "kept alive",
         .asked = OLD "Connection: keep-alive\r\n\r\n",
         .heard = OLD_HEARD,
         .answered = OK VIA "Content-Length: 2\r\nConnection: keep-alive\r\n"
                            "\r\nhi"},
        {.name = "no interim heads",
         .asked = OLD "\r\n",
         .heard = OLD_HEARD,
         .said = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" HI,
         .answered = OK VIA "Content-Length: 2\r\nConnection: close\r\n\r\nhi",
         .client_ends = true},
    };

    TALKS(talks);
}

TEST(interim_heads_go_on)
{
#define HINTS "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
    static const struct talk talks[] = {
        {.name = "103",
         .said = HINTS "Connection: close\r\n\r\n" HI,
         .answered = HINTS VIA "\r\n" OK VIA "Content-Length: 2\r\n\r\nhi"},
        {.name = "102 and 103",
         .said = "HTTP/1.1 102 Wait\r\n\r\n" HINTS "\r\n" HI,
         .answered = "HTTP/1.1 102 Wait\r\n" VIA "\r\n" HINTS VIA "\r\n" OK VIA
                     "Content-Length: 2\r\n\r\nhi"},
    };

    TALKS(talks);
}

/* Has the upstream server say an interim head, which the client hears before
 * there is a reply. */
static void expect_passes_on(const char *interim)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer = upstream_asked(upstream, client, GET "\r\n");
    const char *passed_on = printed("%s" VIA "\r\n", interim);

    client_say(peer, "%s\r\n", interim);
    expect_hears(client, passed_on);
    client_say(peer, HI);
    expect_hears(client, OK VIA "Content-Length: 2\r\n\r\nhi");
}

/* What is long before its end has to be there at once: that is its use. */
TEST(an_interim_head_does_not_wait_for_the_reply)
{
    expect_passes_on(HINTS);
}

#define EXPECTS "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"
#define CONTINUE "HTTP/1.1 100 Continue\r\n"

/* The client waits to be told to go on; the connection where that is heard. */
static struct client *hear_expectation(const struct upstream *upstream,
                                       struct client *client)
{
    struct client *peer;

    client_say(client, POST EXPECTS);
    peer = upstream_accept(upstream);
    expect_hears(peer, POST ASKER EXPECTS);
    return peer;
}

TEST(who_expects_to_continue_waits_for_the_upstream)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    peer = hear_expectation(upstream, client);
    assert_false(client_hears(client, 50));
    client_say(peer, CONTINUE "\r\n");
    expect_hears(client, CONTINUE VIA "\r\n");
    client_say(client, "hello");
    expect_hears(peer, "hello");
    client_say(peer, HI);
    expect_hears(client, OK VIA "Content-Length: 2\r\n\r\nhi");
}

/* RFC 9110 15.2: only who has asked for it by itself may keep it. */
TEST(a_100_that_nobody_expects_is_passed_on)
{
    expect_passes_on(CONTINUE);
}

TEST(http_1_0_hears_of_no_100)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, "GET /x HTTP/1.0\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    client_say(peer, CONTINUE "\r\n" HI);
    expect_status(client_reply(client), 200);
    client_expect_end(client);
}

TEST(a_refused_expectation_is_heard_before_the_body)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    peer = hear_expectation(upstream, client);
    client_say(peer, "HTTP/1.1 413 No\r\n" DATE "Content-Length: 0\r\n\r\n");
    expect_status(client_reply(client), 413);
    /* It is not used for another request: the body may still come. */
    hear_end(peer);
}

TEST(a_reply_without_a_date_gets_one)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;
    struct reply *reply;

    peer = upstream_asked(upstream, client, GET "\r\n");
    client_say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    reply = client_reply(client);
    assert_non_null(reply_field(reply, "Date"));
    expect_body(reply, "hi");
}

E2E_SUITE(harness_begin);
