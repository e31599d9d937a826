/*
 * Requests as the upstream gets them, byte for byte (RFC 9110 7.6, RFC 9112),
 * and the connections they take.
 */
#include "talk.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

TEST(a_request_is_made_anew)
{
    static const struct talk talks[] = {
        {.name = "plain"},
        {.name = "fields",
         .asked = "GET / HTTP/1.1\r\nX:\t1 \r\nhost: a\r\nx: 2\r\n"
                  "Cookie: c=d\r\nAuthorization: Basic eDp5\r\n\r\n",
         .heard = GET "X: 1\r\nx: 2\r\nCookie: c=d\r\n"
                      "Authorization: Basic eDp5\r\n" ASKER "\r\n"},
        {.name = "the target is left as it is",
         .asked = "GET /a//b/%41%e4/;c?d=/../&e=%2e HTTP/1.1\r\nHost: a\r\n"
                  "\r\n",
         .heard = "GET /a//b/%41%e4/;c?d=/../&e=%2e HTTP/1.1\r\n"
                  "Host: a\r\n" ASKER "\r\n"},
        {.name = "absolute form",
         .asked = "GET http://a?b HTTP/1.1\r\nHost: other\r\n\r\n",
         .heard = "GET /?b HTTP/1.1\r\nHost: a\r\n" ASKER "\r\n"},
        {.name = "one connection only",
         .asked = GET "Connection: keep-alive, X-A,x-b\r\nX-A: 1\r\nX-B: 2\r\n"
                      "X-C: 3\r\nKeep-Alive: timeout=5\r\n"
                      "Proxy-Connection: keep-alive\r\n"
                      "Proxy-Authorization: Basic eDp5\r\nTE: gzip\r\n"
                      "Upgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n",
         .heard = GET "X-C: 3\r\n" ASKER "\r\n"},
        {.name = "disguised",
         .asked = GET "X_Forwarded_For: 6.6.6.6\r\nContent_Length: 5\r\n"
                      "Script_Name: /x\r\nPATH_INFO: /y\r\n"
                      "X.Forwarded.Host: b\r\nX-Real.IP: 6.6.6.6\r\n"
                      "X~Real~IP: 6.6.6.6\r\nX~Forwarded-User: joe\r\n"
                      "Transfer_Encoding: chunked\r\nX_Other: 1\r\n"
                      "X.Other: 2\r\n\r\n",
         .heard = GET "X_Other: 1\r\nX.Other: 2\r\n" ASKER "\r\n"},
        {.name = "via others",
         .asked = GET "Via: 1.0 fred\r\n\r\n",
         .heard = GET "Via: 1.0 fred\r\n" ASKER "\r\n"},
        {.name = "trailers are read",
         .asked = GET "TE: trailers\r\n\r\n",
         .heard = GET ASKER "TE: trailers\r\nConnection: TE\r\n\r\n"},
        {.name = "a range is the upstream's",
         .asked = GET "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n\r\n",
         .heard = GET "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n" ASKER "\r\n",
         .said = "HTTP/1.1 206 Partial Content\r\n" DATE
                 "Content-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nhi",
         .answered = "HTTP/1.1 206 Partial Content\r\n" DATE
                     "Content-Range: bytes 0-1/9\r\n" VIA
                     "Content-Length: 2\r\n\r\nhi"},
        {.name = "a method of no standard we know",
         .asked = "REPORT / HTTP/1.1\r\nHost: a\r\n\r\n",
         .heard = "REPORT / HTTP/1.1\r\nHost: a\r\n" ASKER "\r\n"},
        {.name = "a method that the parser does not know",
         .asked = "QUERY /a?b HTTP/1.1\r\nHost: a\r\nX:\t1\r\n"
                  "Content-Length: 2\r\n\r\nhi",
         .heard = "QUERY /a?b HTTP/1.1\r\nHost: a\r\nX: 1\r\n" ASKER
                  "Content-Length: 2\r\n\r\nhi"},
        {.name = "Max-Forwards",
         .asked = "OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 2\r\n\r\n",
         .heard = "OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 1\r\n" ASKER
                  "\r\n"},
    };

    TALKS(talks);
}

TEST(bodies_are_framed_anew)
{
    static const struct talk talks[] = {
        {.name = "length",
         .asked = POST "Content-Length: 0005\r\nX: y\r\n\r\nhello",
         .heard = POST "X: y\r\n" ASKER "Content-Length: 5\r\n\r\nhello"},
        {.name = "length of nothing",
         .asked = POST "Content-Length: 0\r\n\r\n",
         .heard = POST ASKER "Content-Length: 0\r\n\r\n"},
        {.name = "no body", .asked = POST "\r\n", .heard = POST ASKER "\r\n"},
        {.name = "chunks",
         .asked = POST CHUNKED "\r\n0003;a=\"b\"\r\nhel\r\n02\r\nlo\r\n"
                               "000\r\n\r\n",
         .heard = POST ASKER CHUNKED "\r\n",
         .heard_chunks = "hello"},
        {.name = "chunks of nothing",
         .asked = POST CHUNKED "\r\n0\r\n\r\n",
         .heard = POST ASKER CHUNKED "\r\n",
         .heard_chunks = ""},
        {.name = "trailers of requests stay behind",
         .asked = POST CHUNKED "Trailer: X\r\n\r\n5\r\nhello\r\n0\r\n"
                               "X: y\r\nContent-Length: 3\r\n\r\n",
         .heard = POST ASKER CHUNKED "\r\n",
         .heard_chunks = "hello"},
        {.name = "a body with GET",
         .asked = GET "Content-Length: 2\r\n\r\nhi",
         .heard = GET ASKER "Content-Length: 2\r\n\r\nhi"},
        {.name = "HTTP/1.0",
         .asked = "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
         .heard = POST "Via: 1.0 sprintd\r\nX-Forwarded-For: 127.0.0.1\r\n"
                       "X-Forwarded-Proto: http\r\nX-Forwarded-Host: a\r\n"
                       "Forwarded: for=127.0.0.1;proto=http;host=a\r\n"
                       "Content-Length: 2\r\n\r\nhi",
         .answered = OK VIA "Content-Length: 2\r\nConnection: close\r\n\r\nhi",
         .client_ends = true},
    };

    TALKS(talks);
}

TEST(who_asked_is_taken_from_trusted_proxies_only)
{
    static const char claims[] = GET
        "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n"
        "X-Forwarded-Proto: https\r\nX-Real-IP: 6.6.6.6\r\n"
        "X-Forwarded-Host: b\r\nX-Forwarded-Port: 1\r\n\r\n";
    static const struct {
        const char *trusts;
        const char *field;
        const char *heard;
    } ways[] = {
        {"--trusted-proxies=10.0.0.0/8", "--client-address=x-forwarded-for",
         GET ASKER "\r\n"},
        {"--trusted-proxies=127.0.0.1", "--client-address=x-forwarded-for",
         GET "X-Forwarded-Proto: https\r\nX-Real-IP: 6.6.6.6\r\n"
             "X-Forwarded-Host: b\r\nX-Forwarded-Port: 1\r\n" VIA
             "X-Forwarded-For: 6.6.6.6, 127.0.0.1\r\n\r\n"},
        {"--trusted-proxies=127.0.0.1", "--client-address=forwarded",
         GET VIA "Forwarded: for=6.6.6.6, "
                 "for=127.0.0.1;proto=http;host=a\r\n\r\n"},
    };
    struct upstream *upstream = upstream_open();

    for (size_t i = 0; i < COUNT(ways); i++) {
        struct talk talk = {.name = printed("%s, %s", ways[i].trusts,
                                            ways[i].field),
                            .asked = claims,
                            .heard = ways[i].heard};
        struct server *server = PROXY(upstream, ways[i].trusts, ways[i].field,
                                      "--proxy-keepalive=0");

        talk_play(server, upstream, &talk);
        server_stop(server);
    }
}

TEST(host_can_be_the_upstreams)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, "--proxy-host=upstream");
    struct talk talk = {
        .name = "Host",
        .heard = printed("GET / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s\r\n",
                         upstream->port, ASKER)};

    talk_play(server, upstream, &talk);
}

TEST(what_may_not_go_on_is_answered_here)
{
    static const char round[] = "Via: 1.1 sprintd\r\n";
    static const struct {
        const char *asked;
        unsigned status;
    } cases[] = {
        {GET "Connection: Content-Length\r\n\r\n", 400},
        {GET "Connection: X-Forwarded-For\r\n\r\n", 400},
        {GET "Connection: Authorization\r\n\r\n", 400},
        {"GET /a/../b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /a/%2e%2E/b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /a%2F..%2Fb HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /a%2f%2e HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405},
        {"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", 405},
        {"OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n", 204},
        {"OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: x\r\n\r\n", 400},
        {NULL, 508},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    const char *loop = "";

    for (int i = 0; i < 10; i++)
        loop = printed("%s%s", loop, round);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct client *client = client_open(server);

        going_on("%s", cases[i].asked ? cases[i].asked : "a loop");
        if (cases[i].asked)
            client_say(client, "%s", cases[i].asked);
        else
            client_say(client, GET "%s\r\n", loop);
        expect_status(client_reply(client), cases[i].status);
    }
    assert_false(upstream_hears(upstream, 0));
}

/* --- Connections --------------------------------------------------------- */

TEST(a_connection_to_the_upstream_is_used_again)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *peer = NULL;

    for (int i = 0; i < 5; i++) {
        struct client *client = client_open(server);

        client_say(client,
                   i == 3 ? POST "Content-Length: 2\r\n\r\nhi" : GET "\r\n");
        if (!peer)
            peer = upstream_accept(upstream);
        hear_head(peer);
        if (i == 3)
            expect_hears(peer, "hi");
        client_say(peer, i == 2 ? OK CHUNKED "\r\n0\r\n\r\n" : HI);
        expect_status(client_reply(client), 200);
        client_close(client);
    }
    assert_false(upstream_hears(upstream, 0));
}

TEST(a_connection_that_does_not_persist_is_not_used_again)
{
    static const char *const replies[] = {
        OK "Connection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        HI "more", /* nobody asked for that */
    };
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);

    for (size_t i = 0; i < COUNT(replies); i++) {
        struct client *client = client_open(server);
        struct client *peer;

        going_on("%s", replies[i]);
        peer = upstream_asked(upstream, client, GET "\r\n");
        client_say(peer, "%s", replies[i]);
        expect_body(client_reply(client), "hi");
        assert_int_equal(hear_end(peer), 0);
    }
}

TEST(pipelined_requests_are_answered_in_order)
{
    struct upstream *upstream = upstream_open();
    struct server *server = PROXY(upstream, NULL);
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, "GET /0 HTTP/1.1\r\nHost: a\r\n\r\n"
                       "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
                       "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    for (int i = 0; i < 3; i++) {
        expect_hears(peer, printed("GET /%d HTTP/1.1\r\n", i));
        hear_head(peer);
        client_say(peer, OK "Content-Length: 1\r\n\r\n%d", i);
        expect_body(client_reply(client), printed("%d", i));
    }
}

E2E_SUITE(harness_begin);
