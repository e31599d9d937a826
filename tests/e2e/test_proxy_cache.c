/*
 * --proxy-cache: what is kept, for whom, how it is asked about anew, and what
 * happens while it is being fetched.
 */
#include "upstream.h"

#include <sys/socket.h>
#include <time.h>

enum { KB = 1024, MB = 1024 * KB, SEED = 5, LARGE = 3 * MB, CROWD = 40 };

/* Who asks again does so by another connection. */
#define REPLY(fields, body) \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n" DATED fields "\r\n" body
#define DATED "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define LEN(n) "Content-Length: " #n "\r\n"
#define KEEP "Cache-Control: max-age=2000000000\r\n"
/* Stale at once, for it is from 1994. */
#define STALE "Cache-Control: max-age=60\r\n"

#define START_CACHE(upstream, ...)                                        \
    START("--workers=2", printed("--proxy=/=%s", (upstream)->at),         \
          "--proxy-cache=memory", "--proxy-retries=0", "--proxy-fails=0", \
          __VA_ARGS__)

static struct reply *asked_with(struct client *client, const char *fields)
{
    return client_ask_host(client, "GET", "a", "/a", fields);
}

static struct reply *get_a(const struct server *server)
{
    return asked_with(client_open(server), NULL);
}

/* Answers the next request there; the head that it had. */
static const char *answer(struct client *peer, const char *text)
{
    const char *head = hear_head(peer);

    client_say(peer, "%s", text);
    return head;
}

/* One asks, the upstream answers so. */
static struct reply *fetch(const struct server *server,
                           const struct upstream *upstream, const char *text)
{
    struct client *client = client_open(server);
    struct client *peer;

    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, text);
    return client_reply(client);
}

static void expect_note(const struct reply *reply, const char *part)
{
    const char *note = reply_field(reply, "Cache-Status");

    if (!note || strncmp(note, "sprintd; ", 9) != 0 || !strstr(note, part))
        flunk("Cache-Status is '%s', without '%s'", note ? note : "", part);
}

/* --- Hits ---------------------------------------------------------------- */

TEST(what_may_be_kept_is_fetched_once_and_says_how_old_it_is)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply = fetch(server, upstream,
                                REPLY(KEEP LEN(5) "X: y\r\n", "hello"));

    expect_body(reply, "hello");
    expect_note(reply, "fwd=uri-miss; fwd-status=200; stored");
    for (int i = 0; i < 4; i++) {
        reply = get_a(server);
        expect_body(reply, "hello");
        expect_field(reply, "X", "y");
        expect_note(reply, "hit; ttl=");
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

    fetch(server, upstream, REPLY(KEEP LEN(5) "ETag: \"v\"\r\n", "hello"));
    client_say(client, "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
    reply = client_reply_to_head(client);
    assert_int_equal(reply->length, 5);
    expect_note(reply, "hit");
    reply = asked_with(client, "If-None-Match: \"x\", \"v\"\r\n");
    expect_status(reply, 304);
    expect_field(reply, "ETag", "\"v\"");
    reply = asked_with(client, "Range: bytes=1-3\r\n");
    expect_status(reply, 206);
    expect_body(reply, "ell");
    expect_field(reply, "Content-Range", "bytes 1-3/5");
    expect_status(asked_with(client, "Range: bytes=9-\r\n"), 416);
    expect_body(asked_with(client, "Range: bytes=1-3\r\nIf-Range: \"w\"\r\n"),
                "hello");
    assert_false(upstream_hears(upstream, 20));
}

TEST(who_takes_only_what_is_kept_gets_a_504_when_nothing_is)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    expect_status(asked_with(client, "Cache-Control: only-if-cached\r\n"), 504);
    fetch(server, upstream, REPLY(KEEP LEN(5), "hello"));
    expect_body(asked_with(client, "Cache-Control: only-if-cached\r\n"),
                "hello");
}

TEST(a_long_body_is_kept_and_ranges_of_it_are_right)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    char *body = scratch(LARGE);

    seeded_fill(SEED, 0, body, LARGE);
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, printed("HTTP/1.1 200 OK\r\n" DATED KEEP
                               "Content-Length: %d\r\n\r\n",
                               LARGE));
    client_send(peer, body, LARGE);
    expect_seeded(client_reply(client), SEED, 0, LARGE);
    expect_seeded(asked_with(client, NULL), SEED, 0, LARGE);
    expect_seeded(asked_with(client, "Range: bytes=1000000-1999999\r\n"), SEED,
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
        client_say(crowd[i], "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    peer = upstream_accept(upstream);
    (void)answer(peer, printed("HTTP/1.1 200 OK\r\n" DATED KEEP
                               "Content-Length: %d\r\n\r\n",
                               LARGE));
    client_send(peer, body, LARGE / 2);
    /* Before the rest is there, all have what is. */
    for (size_t i = 0; i < CROWD; i++)
        client_take(crowd[i], LARGE / 4);
    late = client_open(server);
    client_say(late, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
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

    peer = upstream_asked(upstream, one, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    client_say(other, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
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

    peer = upstream_asked(upstream, one, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    client_say(other, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
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

    client_say(one, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(500000), "half"));
    client_take(one, 50);
    client_say(other, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    client_take(other, 50);
    client_close(peer);
    assert_int_equal(client_try(one, false, &reply), CLIENT_BROKEN);
    assert_int_equal(client_try(other, false, &reply), CLIENT_BROKEN);
    expect_body(fetch(server, upstream, REPLY(KEEP LEN(5), "whole")), "whole");
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
    client_say(one, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, "HTTP/1.1 200 OK\r\n" DATED KEEP
                       "Transfer-Encoding: chunked\r\n\r\n");
    client_say(peer, "a\r\n");
    client_send(peer, body, 10);
    client_say(peer, "\r\n");
    client_take(one, 50);
    client_say(other, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
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
    expect_body(fetch(server, upstream, REPLY(LEN(3), "new")), "new");
}

/* --- Asking anew --------------------------------------------------------- */

TEST(what_is_stale_is_asked_about_and_a_304_brings_it_up_to_date)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    struct reply *reply;

    fetch(server, upstream,
          REPLY(STALE LEN(5) "ETag: \"v\"\r\nA: 1\r\nB: 2\r\n", "hello"));
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n"
                       "If-None-Match: \"mine\"\r\nRange: bytes=0-1\r\n"
                       "If-Range: \"v\"\r\n\r\n");
    peer = upstream_accept(upstream);
    assert_non_null(strstr(answer(peer, "HTTP/1.1 304 Not Modified\r\n" DATED
                                        "ETag: \"v\"\r\nB: 3\r\n" KEEP "\r\n"),
                           "If-None-Match: \"v\"\r\n"));
    reply = client_reply(client);
    expect_status(reply, 206);
    expect_body(reply, "he");
    expect_field(reply, "A", "1");
    expect_field(reply, "B", "3");
    expect_note(reply, "fwd=stale; fwd-status=304");
    expect_note(asked_with(client, NULL), "hit");
}

TEST(what_may_serve_meanwhile_does_and_is_asked_for_behind_the_clients_back)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *peer;

    fetch(server, upstream,
          REPLY("Cache-Control: max-age=1, "
                "stale-while-revalidate=2000000000\r\n" LEN(3),
                "old"));
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
    fetch(server, upstream, text);
    upstream_shut(upstream);
    reply = get_a(server);
    expect_body(reply, "old");
    expect_note(reply, "ttl=-");
    upstream_listen(upstream);
    pause_ms(2100);
    text = printed("HTTP/1.1 200 OK\r\nDate: %s\r\nCache-Control: max-age=50, "
                   "must-revalidate\r\nContent-Length: 3\r\n"
                   "Connection: close\r\n\r\nold",
                   date);
    fetch(server, upstream, text);
    upstream_shut(upstream);
    expect_status(get_a(server), 502);
}

TEST(a_write_that_succeeds_makes_what_is_kept_invalid)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch(server, upstream, REPLY(KEEP LEN(3), "old"));
    client_say(client, "POST /b HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 2\r\n\r\nhi");
    peer = upstream_accept(upstream);
    (void)answer(peer, "HTTP/1.1 500 No\r\n" DATED "Location: /a\r\n"
                       "Connection: close\r\nContent-Length: 0\r\n\r\n");
    expect_status(client_reply(client), 500);
    expect_body(get_a(server), "old");
    client_say(client, "POST /b HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 2\r\n\r\nhi");
    peer = upstream_accept(upstream);
    (void)answer(peer, "HTTP/1.1 201 Made\r\n" DATED "Location: http://a/a\r\n"
                       "Connection: close\r\nContent-Length: 0\r\n\r\n");
    expect_note(client_reply(client), "fwd=method");
    expect_body(fetch(server, upstream, REPLY(KEEP LEN(3), "new")), "new");
}

static const struct purge_case {
    const char *target;
    const char *fields;
    const char *says;
} purges[] = {
    {"/b", NULL, "{\"purged\":0}\n"},
    {"/a?q", NULL, "{\"purged\":0}\n"},
    {"/a/", NULL, "{\"purged\":0}\n"},
    {"/b*", NULL, "{\"purged\":0}\n"},
    {"/", "Cache-Tag: other\r\n", "{\"purged\":0}\n"},
    {"/", "Surrogate-Key: ne two\r\n", "{\"purged\":1}\n"},
    {"/*", NULL, "{\"purged\":1}\n"},
    {"/a", NULL, "{\"purged\":1}\n"},
    {"/", "xkey: one\r\n", "{\"purged\":1}\n"},
};

TEST(what_is_purged_by_address_beginning_or_tag_is_gone)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);
    bool is_kept = false;

    for (size_t i = 0; i < sizeof(purges) / sizeof(*purges); i++) {
        if (!is_kept)
            fetch(server, upstream,
                  REPLY(KEEP LEN(3) "Cache-Tag: one, two\r\n", "old"));
        expect_body(client_ask_host(client, "PURGE", "a", purges[i].target,
                                    purges[i].fields),
                    purges[i].says);
        is_kept = strchr(purges[i].says, '0');
        if (is_kept)
            expect_body(get_a(server), "old");
    }
    expect_body(fetch(server, upstream, REPLY(KEEP LEN(3), "new")), "new");
}

TEST(what_is_purged_softly_is_asked_about_and_strangers_purge_nothing)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch(server, upstream, REPLY(KEEP LEN(3) "ETag: \"v\"\r\n", "old"));
    expect_status(client_ask_host(client, "PURGE", "a", "/a",
                                  "X-Forwarded-For: 192.0.2.1\r\n"),
                  403);
    expect_status(client_ask_host(client, "PURGE", "a", "/a",
                                  "Origin: http://evil.example\r\n"),
                  403);
    expect_note(get_a(server), "hit");
    expect_body(client_ask_host(client, "PURGE", "a", "/a",
                                "Soft-Purge: 1\r\n"),
                "{\"purged\":1}\n");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    assert_non_null(strstr(answer(peer, "HTTP/1.1 304 Same\r\n" DATED
                                        "Connection: close\r\n" KEEP "\r\n"),
                           "If-None-Match: \"v\""));
    expect_body(client_reply(client), "old");
    expect_note(get_a(server), "hit");
}

TEST(what_is_purged_while_it_is_fetched_is_not_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *one = client_open(server), *other = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, one, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    client_say(other, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    expect_body(client_ask_host(client_open(server), "PURGE", "a", "/*", NULL),
                "{\"purged\":0}\n");
    client_say(peer, REPLY(KEEP LEN(3), "old"));
    expect_body(client_reply(one), "old");
    peer = upstream_accept(upstream); /* who waited asks anew */
    (void)answer(peer, REPLY(KEEP LEN(3), "new"));
    expect_body(client_reply(other), "new");
    expect_body(get_a(server), "new");
}

TEST(who_has_a_token_purges_what_it_is_for_from_elsewhere)
{
    static const char from[] = "X-Forwarded-For: 192.0.2.1\r\n";
    const char *path = printed("%s/purgers", folder());
    struct upstream *upstream = upstream_open();
    struct server *server;
    struct client *client;
    FILE *file = fopen(path, "w");

    fprintf(file, "all-0123456789abcdef\nsome-0123456789abcdef a/assets/\n");
    fclose(file);
    server = START_CACHE(upstream,
                         printed("--proxy-cache-purge-token=%s", path));
    client = client_open(server);
    fetch(server, upstream, REPLY(KEEP LEN(3), "old"));
    expect_status(client_ask_host(client, "PURGE", "a", "/a", from), 401);
    expect_status(client_ask_host(client, "PURGE", "a", "/a",
                                  printed("%sAuthorization: Bearer "
                                          "not-0123456789abcdef\r\n",
                                          from)),
                  401);
    expect_status(client_ask_host(client, "PURGE", "a", "/a",
                                  printed("%sAuthorization: Bearer "
                                          "some-0123456789abcdef\r\n",
                                          from)),
                  403);
    expect_status(client_ask_host(client, "PURGE", "a", "/*",
                                  printed("%sAuthorization: Bearer "
                                          "some-0123456789abcdef\r\n",
                                          from)),
                  403);
    expect_body(client_ask_host(client, "PURGE", "a", "/assets/*",
                                printed("%sAuthorization: Bearer "
                                        "some-0123456789abcdef\r\n",
                                        from)),
                "{\"purged\":0}\n");
    expect_note(get_a(server), "hit");
    expect_body(client_ask_host(client, "PURGE", "a", "/a",
                                printed("%sAuthorization: Bearer "
                                        "all-0123456789abcdef\r\n",
                                        from)),
                "{\"purged\":1}\n");
    assert_false(upstream_hears(upstream, 20));
}

/* --- For whom ------------------------------------------------------------ */

TEST(each_variant_is_kept_for_whom_it_was_made)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\nFoo: 1\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(3) "Vary: Foo\r\n", "one"));
    expect_body(client_reply(client), "one");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\nFoo: 2\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(3) "Vary: foo\r\n", "two"));
    expect_note(client_reply(client), "fwd=vary-miss");
    expect_body(asked_with(client, "Foo: 1\r\n"), "one");
    expect_body(asked_with(client, "Foo: 2\r\n"), "two");
    assert_false(upstream_hears(upstream, 20));
}

/* The client has no such field, and the origin gets one all the same. */
TEST(what_is_made_for_an_address_is_kept_for_nobody)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    expect_body(fetch(server, upstream,
                      REPLY(KEEP LEN(3) "Vary: X-Forwarded-For\r\n", "one")),
                "one");
    expect_body(fetch(server, upstream,
                      REPLY(KEEP LEN(3) "Vary: Forwarded\r\n", "two")),
                "two");
    expect_body(fetch(server, upstream, REPLY(LEN(4), "none")), "none");
}

/* Neither asked for anew, nor when the origin is gone. */
TEST(nobody_gets_the_cookie_of_another)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    expect_note(fetch(server, upstream,
                      REPLY("ETag: \"a\"\r\nSet-Cookie: id=1\r\n" LEN(3),
                            "one")),
                "fwd-status=200");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\nCookie: id=2\r\n\r\n");
    peer = upstream_accept(upstream);
    assert_null(strcasestr(answer(peer, REPLY("ETag: \"a\"\r\n" LEN(3), "one")),
                           "if-none-match"));
    expect_body(client_reply(client), "one");
    /* What was kept for all takes no cookie in. */
    expect_note(fetch(server, upstream, REPLY("ETag: \"a\"\r\n" LEN(3), "one")),
                "stored");
    client = client_open(server);
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    assert_non_null(
        strcasestr(answer(peer, "HTTP/1.1 304 Not Modified\r\n"
                                "ETag: \"a\"\r\nSet-Cookie: id=3\r\n\r\n"),
                   "if-none-match"));
    assert_string_equal(reply_field(client_reply(client), "Set-Cookie"),
                        "id=3");
    assert_null(reply_field(fetch(server, upstream, REPLY(LEN(3), "one")),
                            "Set-Cookie"));
}

TEST(what_one_with_cookies_gets_is_for_others_only_if_it_says_so)
{
    static const char asked[] = "GET /a HTTP/1.1\r\nHost: a\r\n"
                                "Cookie: id=1\r\n\r\n";
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    client_say(client, "%s", asked);
    (void)answer(
        upstream_accept(upstream),
        "HTTP/1.1 200 OK\r\nConnection: close\r\n"
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n" LEN(4) "\r\nmine");
    expect_body(client_reply(client), "mine");
    expect_body(fetch(server, upstream, REPLY(LEN(4), "none")), "none");
    client = client_open(server);
    client_say(client, "%s", asked);
    (void)answer(upstream_accept(upstream), REPLY(KEEP LEN(4), "ours"));
    expect_body(client_reply(client), "ours");
    expect_body(get_a(server), "ours");
}

/* What is in no key must not decide what others get. */
TEST(an_answer_to_a_request_that_means_another_address_is_not_kept)
{
    static const char *const fields[] = {
        "X-Original-URL: /b\r\n", "X-HTTP-Method-Override: DELETE\r\n",
        "Content-Length: 1\r\n",  "X-Rewrite-URL: /b\r\n",
        "X_Rewrite_URL: /b\r\n",  "x-forward-host: b\r\n",
        "X-Scheme: https\r\n",    "Front-End-Https: on\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        struct client *client = client_open(server), *peer;

        client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n%s\r\n%s", fields[i],
                   i == 2 ? "x" : "");
        peer = upstream_accept(upstream);
        (void)answer(peer, REPLY(KEEP LEN(4), "evil"));
        expect_body(client_reply(client), "evil");
    }
    expect_body(fetch(server, upstream, REPLY(KEEP LEN(4), "good")), "good");
    expect_body(get_a(server), "good");
}

/* The origin does not see the field by which the variant would be kept. */
TEST(who_keeps_a_field_from_the_origin_leaves_nothing_for_those_who_have_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\nFoo: 1\r\n"
                       "Connection: foo\r\n\r\n");
    peer = upstream_accept(upstream);
    assert_null(strcasestr(answer(peer,
                                  REPLY(KEEP LEN(4) "Vary: Foo\r\n", "none")),
                           "\nfoo:"));
    expect_body(client_reply(client), "none");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\nFoo: 1\r\n"
                       "Connection: keep-alive, te\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(3) "Vary: Foo\r\n", "one"));
    expect_note(client_reply(client), "stored");
    expect_body(asked_with(client, "Foo: 1\r\n"), "one");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\nFoo: 1\r\n"
                       "Connection: foo\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(4) "Vary: Foo\r\n", "none"));
    expect_body(client_reply(client), "none");
    expect_body(asked_with(client, "Foo: 1\r\n"), "one");
}

TEST(hosts_do_not_share_and_what_a_stranger_forwards_does_not_count)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    const char *asked;

    client_say(client, "GET /a HTTP/1.1\r\nHost: evil\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(4), "evil"));
    expect_body(client_reply(client), "evil");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n"
                       "X-Forwarded-Host: evil\r\n\r\n");
    peer = upstream_accept(upstream);
    assert_null(strstr(answer(peer, REPLY(KEEP LEN(4), "good")), "evil"));
    expect_body(client_reply(client), "good");
    expect_body(get_a(server), "good");
    /* How one has written a name is no way to leave what others get. */
    client_say(client, "GET /b HTTP/1.1\r\nHost: GoOd\r\n"
                       "Accept-Language: en;q=0.9, DE\r\n\r\n");
    peer = upstream_accept(upstream);
    asked = answer(peer, REPLY(KEEP LEN(1), "b"));
    assert_non_null(strstr(asked, "\r\nHost: good\r\n"));
    assert_non_null(strstr(asked, "\r\nAccept-Language: de,en;q=0.9\r\n"));
    expect_body(client_reply(client), "b");
    expect_note(client_ask_host(client, "GET", "good", "/b", NULL), "hit");
}

TEST(who_says_who_he_is_shares_only_what_is_meant_to_be_shared)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n"
                       "Authorization: Basic eDp5\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(KEEP LEN(4), "mine"));
    expect_body(client_reply(client), "mine");
    fetch(server, upstream, REPLY(KEEP LEN(5), "every"));
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n"
                       "Authorization: Basic eDp5\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer,
                 REPLY("Cache-Control: public, max-age=2000000000\r\n" LEN(6),
                       "public"));
    expect_body(client_reply(client), "public");
    expect_body(get_a(server), "public");
    expect_body(asked_with(client, "Authorization: Basic eDp5\r\n"), "public");
}

/* --- What an operator says ----------------------------------------------- */

static struct reply *ask_path(const struct server *server, const char *path,
                              const char *fields)
{
    return client_ask_host(client_open(server), "GET", "a", path, fields);
}

/* One asks so, and the upstream answers. */
static struct reply *fetch_path(const struct server *server,
                                const struct upstream *upstream,
                                const char *path, const char *fields,
                                const char *text)
{
    struct client *client = client_open(server);

    client_say(client, "GET %s HTTP/1.1\r\nHost: a\r\n%s\r\n", path, fields);
    (void)answer(upstream_accept(upstream), text);
    return client_reply(client);
}

TEST(what_says_nothing_is_kept_for_as_long_as_is_said_for_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--cache-default=1m");
    const char *note;

    fetch(server, upstream,
          "HTTP/1.1 200 OK\r\nConnection: close\r\n" LEN(2) "\r\nhi");
    expect_note(get_a(server), "hit");
    note = reply_field(get_a(server), "Cache-Status");
    assert_in_range(strtol(strstr(note, "ttl=") + 4, NULL, 10), 50, 60);
    fetch_path(
        server, upstream, "/b", "",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nSet-Cookie: a=b\r\n" LEN(
            2) "\r\nhi");
    fetch_path(server, upstream, "/b", "",
               "HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: "
               "no-store\r\n" LEN(2) "\r\nhi");
    fetch_path(server, upstream, "/b", "", REPLY(LEN(2), "hi"));
}

TEST(who_has_what_is_to_go_past_gets_and_leaves_nothing)
{
    static const char *const fields[] = {"X-Preview: 1\r\n",
                                         "Cookie: a=b; session=1\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--proxy-cache=memory",
                                  "--cache-bypass=header:X-Preview",
                                  "--cache-bypass=cookie:session",
                                  "--cache-bypass=query:nocache");

    fetch(server, upstream, REPLY(KEEP LEN(3), "all"));
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        struct reply *reply = fetch_path(server, upstream, "/a", fields[i],
                                         REPLY(KEEP LEN(3), "one"));

        expect_body(reply, "one");
        expect_note(reply, "fwd=bypass");
    }
    for (int i = 0; i < 2; i++)
        expect_note(fetch_path(server, upstream, "/a?x=1&nocache=1", "",
                               REPLY(KEEP LEN(3), "one")),
                    "fwd=bypass");
    expect_body(get_a(server), "all");
    expect_note(ask_path(server, "/a", "Cookie: sessions=1; b\r\n"), "hit");
}

TEST(a_key_has_in_it_what_is_said_and_not_what_is_left_out)
{
    struct upstream *upstream = upstream_open();
    struct server *server =
        START(printed("--proxy=/=%s", upstream->at), "--proxy-cache=memory",
              "--cache-key=-query:utm_*", "--cache-key=-query:sid",
              "--cache-key=header:X-Country", "--cache-key=cookie:tier");
    struct reply *reply;

    fetch_path(server, upstream, "/a?x=1&utm_source=y", "",
               REPLY(KEEP LEN(3), "one"));
    expect_body(ask_path(server, "/a?x=1", NULL), "one");
    expect_body(ask_path(server, "/a?sid=7&x=1&utm_=", NULL), "one");
    reply = fetch_path(server, upstream, "/a?x=1&sida=1", "",
                       REPLY(KEEP LEN(3), "two"));
    expect_note(reply, "fwd=uri-miss");
    fetch_path(server, upstream, "/a?x=1", "X-Country: at\r\n",
               REPLY(KEEP LEN(3), "at."));
    fetch_path(server, upstream, "/a?x=1", "Cookie: tier=gold\r\n",
               REPLY(KEEP LEN(4), "gold"));
    expect_body(ask_path(server, "/a?x=1", "X-Country: at\r\n"), "at.");
    expect_body(ask_path(server, "/a?x=1", "Cookie: b; tier=gold; c\r\n"),
                "gold");
    expect_body(ask_path(server, "/a?x=1", "Cookie: other=1\r\n"), "one");
    expect_body(client_ask_host(client_open(server), "PURGE", "a",
                                "/a?utm_x=1&x=1", NULL),
                "{\"purged\":3}\n");
}

TEST(parts_of_requests_that_there_are_not_are_refused)
{
    static const char *const wrong[] = {
        "--cache-key=query:a",       "--cache-key=-header:a",
        "--cache-key=header:",       "--cache-key=host",
        "--cache-key=cookie:a=b",    "--cache-bypass=-query:a",
        "--cache-bypass=header:a b", "--cache-bypass="};
    struct outcome outcome;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        RUN(&outcome, "--port=0", "--proxy=/=http://127.0.0.1:9", wrong[i]);
        assert_int_equal(outcome.status, 64);
    }
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
                (void)answer(peer, printed("HTTP/1.1 200 OK\r\n" DATED KEEP
                                           "Connection: close\r\n"
                                           "Content-Length: %d\r\n\r\n",
                                           EACH));
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
        assert_null(reply_field(fetch(server, upstream,
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
    struct client *client = client_open(server), *peer;
    struct reply *reply;
    const char *text;

    fetch(server, upstream, REPLY(KEEP LEN(3) "ETag: \"v\"\r\n", "old"));
    expect_note(get_a(server), "hit");
    expect_note(get_a(server), "hit");
    client_say(client, "GET /a HTTP/1.1\r\nHost: a\r\n"
                       "Cache-Control: no-cache\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, "HTTP/1.1 304 Same\r\n" DATED
                       "Connection: close\r\n" KEEP "\r\n");
    expect_body(client_reply(client), "old");
    client_say(client, "GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY("Cache-Control: no-store\r\n" LEN(1), "b"));
    expect_body(client_reply(client), "b");
    client_say(client, "OPTIONS /b HTTP/1.1\r\nHost: a\r\n\r\n");
    peer = upstream_accept(upstream);
    (void)answer(peer, REPLY(LEN(1), "o"));
    expect_body(client_reply(client), "o");
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
