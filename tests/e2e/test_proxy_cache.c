/*
 * --proxy-cache: what is kept, what happens while it is being fetched, how much
 * there is room for, and what is told of it.
 */
#include "caching.h"

enum { KB = 1024, MB = 1024 * KB, SEED = 5, LARGE = 3 * MB, CROWD = 40 };

/* The head of an answer of so many bytes, which may be kept. */
static const char *head_of(size_t len)
{
    return printed("HTTP/1.1 200 OK\r\nConnection: close\r\n" DATED KEEP
                   "Content-Length: %zu\r\n\r\n",
                   len);
}

/* --- Hits ---------------------------------------------------------------- */

TEST(what_may_be_kept_is_fetched_once_and_says_how_old_it_is)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply = fetch_a(server, upstream,
                                  REPLY(KEEP LEN(5) "X: y\r\n", "hello"));

    expect_body(reply, "hello");
    expect_cache_status(reply, "fwd=uri-miss; fwd-status=200; stored");
    for (int i = 0; i < 4; i++) {
        reply = get_a(server);
        expect_body(reply, "hello");
        expect_field(reply, "X", "y");
        expect_cache_status(reply, "hit; ttl=");
        assert_true(strtoll(reply_field(reply, "Age"), NULL, 10) > 900000000);
    }
    assert_false(upstream_hears(upstream, 50));
}

TEST(a_kept_answer_has_heads_conditions_and_ranges)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);
    struct reply *reply;

    fetch_a(server, upstream, REPLY(KEEP LEN(5) "ETag: \"v\"\r\n", "hello"));
    client_say(client, "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
    reply = client_reply_to_head(client);
    assert_int_equal(reply->length, 5);
    expect_cache_status(reply, "hit");
    reply = ask_a(client, "If-None-Match: \"x\", \"v\"\r\n");
    expect_status(reply, 304);
    expect_field(reply, "ETag", "\"v\"");
    reply = ask_a(client, "Range: bytes=1-3\r\n");
    expect_status(reply, 206);
    expect_body(reply, "ell");
    expect_field(reply, "Content-Range", "bytes 1-3/5");
    expect_status(ask_a(client, "Range: bytes=9-\r\n"), 416);
    expect_body(ask_a(client, "Range: bytes=1-3\r\nIf-Range: \"w\"\r\n"),
                "hello");
    assert_false(upstream_hears(upstream, 20));
}

TEST(a_range_has_one_content_range_and_what_is_kept_no_trailer)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);
    struct reply *reply;

    fetch_a(server, upstream,
            REPLY(KEEP LEN(5) "Content-Range: bytes 0-4/9\r\n"
                              "Trailer: Expires\r\n",
                  "hello"));
    reply = ask_a(client, "Range: bytes=1-3\r\n");
    expect_status(reply, 206);
    expect_field(reply, "Content-Range", "bytes 1-3/5");
    assert_null(reply_field(reply, "Trailer"));
}

/* Of two versions within that second a client may have parts of the other. */
TEST(a_date_within_the_second_of_an_answer_is_good_for_no_range)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    fetch_a(server, upstream,
            REPLY(KEEP LEN(5) "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"
                              "\r\n",
                  "hello"));
    expect_status(ask_a(client, "Range: bytes=1-3\r\nIf-Range: "
                                "Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
                  200);
    expect_body(ask_through(client, upstream,
                            GET("/a", "Cache-Control: no-cache\r\n"),
                            REPLY(KEEP LEN(5) "Last-Modified: Sun, 06 Nov 1994 "
                                              "08:49:36 GMT\r\n",
                                  "hullo")),
                "hullo");
    expect_status(ask_a(client, "Range: bytes=1-3\r\nIf-Range: "
                                "Sun, 06 Nov 1994 08:49:36 GMT\r\n"),
                  206);
}

TEST(who_takes_only_what_is_kept_gets_a_504_when_nothing_is)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);
    struct reply *reply = ask_a(client, "Cache-Control: only-if-cached\r\n");

    expect_status(reply, 504);
    /* Nothing kept is in it, and nothing went forward (RFC 9211 2). */
    expect_no_field(reply, "Cache-Status");
    fetch_a(server, upstream, REPLY(KEEP LEN(5), "hello"));
    expect_body(ask_a(client, "Cache-Control: only-if-cached\r\n"), "hello");
}

/* RFC 9111 3: neither a lifetime, nor a status of which one is guessed. */
TEST(a_validator_alone_keeps_no_answer_of_any_status)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (int i = 0; i < 2; i++) {
        struct client *client = client_open(server), *peer;
        struct reply *reply;
        const char *asked;

        client_say(client, GET("/a", ""));
        peer = upstream_accept(upstream);
        asked = hear_head(peer);
        assert_null(strstr(asked, "If-None-Match"));
        client_say(peer, "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n" DATED
                         "ETag: \"v\"\r\n" LEN(2) "\r\nno");
        reply = client_reply(client);
        expect_status(reply, 403);
        assert_null(strstr(reply_field(reply, "Cache-Status"), "stored"));
    }
}

/* RFC 9211 2. */
TEST(what_this_server_says_itself_has_no_cache_status)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);
    static const char *const requests[] = {
        GET("/a", ""), GET("/a", "Range: bytes=0-1,3-4\r\n"),
        GET("/a", "If-Match: \"a\"\r\n"),
        "DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n"};
    struct reply *reply;

    reply = client_ask_host(client, "TRACE", "a", "/a", NULL);
    expect_status(reply, 405); /* nothing was asked of anybody */
    expect_no_field(reply, "Cache-Status");
    reply = client_ask_host(client, "OPTIONS", "a", "/a",
                            "Max-Forwards: 0\r\n");
    expect_status(reply, 204);
    expect_no_field(reply, "Cache-Status");
    upstream_shut(upstream);
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        going_on("%s", requests[i]);
        client_say(client, "%s", requests[i]);
        reply = client_reply(client);
        expect_status(reply, 502);
        assert_non_null(reply_field(reply, "Proxy-Status"));
        expect_no_field(reply, "Cache-Status");
    }
}

/* RFC 9111 5.1: an Age says that the origin was not asked. */
TEST(what_the_origin_has_just_said_has_no_age_unless_it_came_of_a_cache)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);
    struct reply *reply;

    reply = fetch_a(server, upstream,
                    REPLY(KEEP LEN(5) "ETag: \"v\"\r\n", "hello"));
    expect_cache_status(reply, "stored");
    expect_no_field(reply, "Age");
    assert_non_null(reply_field(get_a(server), "Age"));
    reply = ask_through(client, upstream,
                        GET("/a", "Cache-Control: no-cache\r\n"),
                        "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n"
                        "ETag: \"v\"\r\n\r\n");
    expect_cache_status(reply, "fwd=request; fwd-status=304");
    expect_body(reply, "hello");
    expect_no_field(reply, "Age");
    assert_non_null(reply_field(get_a(server), "Age"));
    reply = ask_through(client, upstream, GET("/b", ""),
                        REPLY(KEEP "Age: 7\r\n" LEN(2), "hi"));
    assert_true(strtoll(reply_field(reply, "Age"), NULL, 10) >= 7);
}

TEST(a_long_body_is_kept_and_ranges_of_it_are_right)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    char *body = scratch(LARGE);

    seeded_fill(SEED, 0, body, LARGE);
    peer = upstream_asked(upstream, client, GET("/a", ""));
    client_say(peer, "%s", head_of(LARGE));
    client_send(peer, body, LARGE);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    expect_seeded(ask_a(client, NULL), SEED, 0, LARGE);
    expect_seeded(ask_a(client, "Range: bytes=1000000-1999999\r\n"), SEED,
                  1000000, 1000000);
    assert_false(upstream_hears(upstream, 20));
}

/* --- One asks, all get --------------------------------------------------- */

TEST(a_crowd_asks_once_and_all_read_along)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *crowd[CROWD], *late, *peer;
    char *body = scratch(LARGE);

    seeded_fill(SEED, 0, body, LARGE);
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = client_open(server);
        client_say(crowd[i], GET("/a", ""));
    }
    peer = upstream_accept(upstream);
    (void)answer(peer, head_of(LARGE));
    client_send(peer, body, LARGE / 2);
    /* Before the rest is there, all have what is. */
    for (size_t i = 0; i < CROWD; i++)
        client_take(crowd[i], LARGE / 4);
    late = client_open(server);
    client_say(late, GET("/a", ""));
    client_take(late, LARGE / 4);
    assert_false(upstream_hears(upstream, 20));
    client_send(peer, body + LARGE / 2, LARGE - LARGE / 2);
    for (size_t i = 0; i < CROWD; i++)
        expect_seeded(client_reply(crowd[i]), SEED, 0, LARGE);
    expect_seeded(client_reply(late), SEED, 0, LARGE);
    assert_false(upstream_hears(upstream, 20));
}

TEST(who_waited_for_what_is_private_asks_alone)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *one = client_open(server), *other = client_open(server);
    struct client *peer, *second;

    peer = upstream_asked(upstream, one, GET("/a", ""));
    client_say(other, GET("/a", ""));
    assert_false(upstream_hears(upstream, 50));
    client_say(peer, REPLY("Cache-Control: private\r\n" LEN(3), "one"));
    expect_body(client_reply(one), "one");
    second = upstream_accept(upstream);
    (void)answer(second, REPLY("Cache-Control: private\r\n" LEN(5), "other"));
    expect_body(client_reply(other), "other");
}

TEST(the_first_may_leave_and_the_others_get_all)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *one = client_open(server), *other = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, one, GET("/a", ""));
    client_say(other, GET("/a", ""));
    pause_ms(200); /* or nobody waits for it, and it is asked for no longer */
    client_reset(one);
    pause_ms(50);
    client_say(peer, REPLY(KEEP LEN(5), "he"));
    client_say(peer, "llo");
    expect_body(client_reply(other), "hello");
}

TEST(what_breaks_off_is_not_kept_and_all_hear_of_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *one = client_open(server), *other = client_open(server);
    struct reply *reply;
    struct client *peer;

    client_say(one, GET("/a", ""));
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(500000), "half"));
    client_take(one, 50);
    client_say(other, GET("/a", ""));
    client_take(other, 50);
    client_close(peer);
    assert_int_equal(client_try(one, false, &reply), CLIENT_BROKEN);
    assert_int_equal(client_try(other, false, &reply), CLIENT_BROKEN);
    expect_body(fetch_a(server, upstream, REPLY(KEEP LEN(5), "whole")),
                "whole");
}

TEST(what_is_too_long_passes_whole_to_slow_and_fast)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream,
                                        "--proxy-cache-max-object=100K");
    struct client *one = client_open_narrow(server, 4 * KB);
    struct client *other = client_open(server), *peer;
    char *body = scratch(LARGE);

    seeded_fill(SEED, 0, body, LARGE);
    client_say(one, GET("/a", ""));
    peer = upstream_accept(upstream);
    (void)answer(peer, "HTTP/1.1 200 OK\r\n" DATED KEEP
                       "Transfer-Encoding: chunked\r\n\r\n");
    client_say(peer, "a\r\n");
    client_send(peer, body, 10);
    client_say(peer, "\r\n");
    client_take(one, 50);
    client_say(other, GET("/a", ""));
    client_take(other, 50);
    client_say(peer, "%x\r\n", LARGE - 10);
    for (size_t at = 10; at < LARGE;) {
        size_t step = LARGE - at < 64 * KB ? LARGE - at : 64 * KB;

        client_send(peer, body + at, step);
        at += step;
        client_take(one, at / 2); /* else all would wait for it */
        client_take(other, at / 2);
    }
    client_say(peer, "\r\n0\r\n\r\n");
    expect_seeded(client_reply(other), SEED, 0, LARGE);
    expect_seeded(client_reply(one), SEED, 0, LARGE);
    client_close(peer);
    expect_body(fetch_a(server, upstream, REPLY(LEN(3), "new")), "new");
}

/* --- Room ---------------------------------------------------------------- */

TEST(a_small_cache_lets_the_oldest_go_and_serves_all)
{
    enum { OBJECTS = 60, EACH = 60 * KB };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--proxy-cache-size=1M");
    struct client *client = client_open(server), *peer = NULL;
    char *body = scratch(EACH);
    unsigned hits = 0;

    seeded_fill(SEED, 0, body, EACH);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < OBJECTS; i++) {
            client_say(client, "GET /%d HTTP/1.1\r\nHost: a\r\n\r\n", i);
            if (client_hears(client, 0) ||
                (!upstream_hears(upstream, 30) && client_hears(client, 0))) {
                hits++;
            } else {
                peer = upstream_accept(upstream);
                (void)answer(peer, head_of(EACH));
                client_send(peer, body, EACH);
            }
            expect_seeded(client_reply(client), SEED, 0, EACH);
        }
    }
    assert_true(hits < OBJECTS / 2);
}

TEST(a_place_may_be_told_to_keep_nothing)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--cache=off");

    for (int i = 0; i < 2; i++)
        assert_null(reply_field(fetch_a(server, upstream,
                                        REPLY(KEEP LEN(2), "hi")),
                                "Cache-Status"));
}

/* --- What is told of it -------------------------------------------------- */

static bool has_part(const char *text, const char *part)
{
    return strstr(text, part);
}

TEST(what_the_cache_did_is_in_logs_and_statistics)
{
    static const char *const told[] = {
        "\"proxy_cache\":{\"hits\":2,\"stale\":0,\"revalidated\":1,"
        "\"misses\":2,\"bypassed\":1,",
        "\"entries\":1"};
    static const char *const lines[] = {
        "miss GET /a\n", "hit GET /a\n",        "revalidated GET /a\n",
        "miss GET /b\n", "bypass OPTIONS /b\n", "- GET /_s/status.json\n"};
    struct upstream *upstream = upstream_open();
    const char *log = printed("%s/cache.log", folder());
    struct server *server = START_CACHE(upstream, "--status=/_s",
                                        printed("--access-log=%s", log),
                                        "--log-format=%{cache_status} "
                                        "%{method} %{target}");
    struct client *client = client_open(server);
    struct reply *reply;
    const char *text;

    fetch_a(server, upstream, REPLY(KEEP LEN(3) "ETag: \"v\"\r\n", "old"));
    expect_cache_status(get_a(server), "hit");
    expect_cache_status(get_a(server), "hit");
    expect_body(ask_through(client, upstream,
                            GET("/a", "Cache-Control: no-cache\r\n"),
                            "HTTP/1.1 304 Same\r\n" DATED
                            "Connection: close\r\n" KEEP "\r\n"),
                "old");
    expect_body(ask_through(client, upstream, GET("/b", ""),
                            REPLY("Cache-Control: no-store\r\n" LEN(1), "b")),
                "b");
    expect_body(ask_through(client, upstream,
                            "OPTIONS /b HTTP/1.1\r\nHost: a\r\n\r\n",
                            REPLY(LEN(1), "o")),
                "o");
    assert_true(eventually(has_part((reply = client_ask(client, "GET",
                                                        "/_s/status.json",
                                                        NULL))
                                        ->body,
                                    told[0]) &&
                               has_part(reply->body, told[1]),
                           3000));
    reply = client_ask(client, "GET", "/_s/metrics", NULL);
    assert_non_null(strstr(reply->body,
                           "sprintd_proxy_cache_total{result=\"hit\"} 2\n"));
    assert_non_null(strstr(reply->body, "sprintd_proxy_cache_entries 1\n"));
    server_stop(server);
    text = read_text(log, NULL);
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        if (!has_part(text, lines[i]))
            flunk("'%s' is not in the log: %s", lines[i], text);
}

E2E_SUITE(harness_begin);
