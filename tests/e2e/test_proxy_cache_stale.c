/*
 * --proxy-cache: what is stale is asked about anew, or serves meanwhile.
 */
#include "caching.h"

#include <time.h>

TEST(what_is_stale_is_asked_about_and_a_304_brings_it_up_to_date)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    struct reply *reply;

    fetch_a(server, upstream,
            REPLY(STALE LEN(5) "ETag: \"v\"\r\nA: 1\r\nB: 2\r\n", "hello"));
    client_say(client,
               GET("/a", "If-None-Match: \"mine\"\r\nRange: bytes=0-1\r\n"
                         "If-Range: \"v\"\r\n"));
    peer = upstream_accept(upstream);
    assert_non_null(strstr(answer(peer, "HTTP/1.1 304 Not Modified\r\n" DATED
                                        "ETag: \"v\"\r\nB: 3\r\n" KEEP "\r\n"),
                           "If-None-Match: \"v\"\r\n"));
    reply = client_reply(client);
    expect_status(reply, 206);
    expect_body(reply, "he");
    expect_field(reply, "A", "1");
    expect_field(reply, "B", "3");
    expect_cache_status(reply, "fwd=stale; fwd-status=304");
    expect_cache_status(ask_a(client, NULL), "hit");
}

TEST(what_may_serve_meanwhile_does_and_is_asked_for_behind_the_clients_back)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *peer;

    fetch_a(server, upstream,
            REPLY("Cache-Control: max-age=1, "
                  "stale-while-revalidate=2000000000\r\n" LEN(3),
                  "old"));
    expect_body(ask_path(server, "/a", "Cache-Control: only-if-cached\r\n"),
                "old");
    expect_body(ask_path(server, "/a", "Cache-Control: no-store\r\n"), "old");
    assert_false(upstream_hears(upstream, 20));
    for (int i = 0; i < 3; i++)
        expect_body(get_a(server), "old");
    peer = upstream_accept(upstream);
    assert_false(upstream_hears(upstream, 20));
    (void)answer(peer, REPLY(KEEP LEN(3), "new"));
    assert_true(eventually(strcmp(get_a(server)->body, "new") == 0, 2000));
}

TEST(an_origin_that_is_gone_leaves_what_is_stale_unless_that_must_not_be)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--cache-stale=24h");
    struct reply *reply;
    char date[30];
    const char *text;

    http_date_text(time(NULL) - 100, date);
    text = printed("HTTP/1.1 200 OK\r\nDate: %s\r\nCache-Control: max-age=50"
                   "\r\nContent-Length: 3\r\nConnection: close\r\n\r\nold",
                   date);
    fetch_a(server, upstream, text);
    upstream_shut(upstream);
    reply = get_a(server);
    expect_body(reply, "old");
    expect_cache_status(reply, "ttl=-");
    upstream_listen(upstream);
    pause_ms(2100);
    text = printed("HTTP/1.1 200 OK\r\nDate: %s\r\nCache-Control: max-age=50, "
                   "must-revalidate\r\nContent-Length: 3\r\n"
                   "Connection: close\r\n\r\nold",
                   date);
    fetch_a(server, upstream, text);
    upstream_shut(upstream);
    expect_status(get_a(server), 502);
}

/* Nobody has allowed it to be stale where the origin can be reached, for those
 * neither who wait for another's answer. */
TEST(what_is_stale_stands_in_for_no_error_that_the_origin_answers)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *first = client_open(server), *second = client_open(server);
    struct client *peer;

    fetch_a(server, upstream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\n"
            "Cache-Control: max-age=1\r\n" LEN(3) "\r\nold");
    pause_ms(1100);
    client_say(first, GET("/a", ""));
    peer = upstream_accept(upstream);
    client_say(second, GET("/a", ""));
    pause_ms(50); /* it waits for the first one's answer */
    (void)answer(peer,
                 "HTTP/1.1 500 No\r\nConnection: close\r\n" LEN(0) "\r\n");
    expect_status(client_reply(first), 500);
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(3), "new"));
    expect_body(client_reply(second), "new");
}

E2E_SUITE(harness_begin);
