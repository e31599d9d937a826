/*
 * --proxy-cache: what is kept no longer, for a client has written, or because
 * an operator wants it gone.
 */
#include "caching.h"

TEST(a_write_that_succeeds_makes_what_is_kept_invalid)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    fetch_a(server, upstream, REPLY(KEEP LEN(3), "old"));
    expect_status(ask_through(client, upstream,
                              "POST /b HTTP/1.1\r\nHost: a\r\n"
                              "Content-Length: 2\r\n\r\nhi",
                              "HTTP/1.1 500 No\r\n" DATED "Location: /a\r\n"
                              "Connection: close\r\nContent-Length: 0\r\n\r\n"),
                  500);
    expect_body(get_a(server), "old");
    expect_cache_status(
        ask_through(client, upstream,
                    "POST /b HTTP/1.1\r\nHost: a\r\n"
                    "Content-Length: 2\r\n\r\nhi",
                    "HTTP/1.1 201 Made\r\n" DATED "Location: http://a/a\r\n"
                    "Connection: close\r\nContent-Length: 0\r\n\r\n"),
        "fwd=method");
    expect_body(fetch_a(server, upstream, REPLY(KEEP LEN(3), "new")), "new");
}

/* Visitors come by a proxy that says in each request how it was asked; whoever
 * edits comes by none. */
TEST(a_write_makes_invalid_what_is_kept_in_other_forms)
{
    static const char *const ways[] = {"X-Scheme: https\r\n",
                                       "CF-Visitor: {\"scheme\":\"https\"}\r\n",
                                       "RSC: 1\r\n", ""};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        expect_body(ask_through(client_open(server), upstream,
                                printed(GET("/a", "%s"), ways[i]),
                                REPLY(KEEP LEN(3), "old")),
                    "old");
    expect_status(ask_through(client_open(server), upstream,
                              "POST /a HTTP/1.1\r\nHost: a\r\nRSC: 1\r\n"
                              "Content-Length: 2\r\n\r\nhi",
                              REPLY(LEN(2), "ok")),
                  200);
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        expect_body(ask_through(client_open(server), upstream,
                                printed(GET("/a", "%s"), ways[i]),
                                REPLY(KEEP LEN(3), "new")),
                    "new");
}

/* Who writes comes by the same proxy as they, which says so of all. */
TEST(a_write_makes_invalid_what_is_kept_in_one_form_more)
{
    static const char *const ways[] = {"RSC: 1\r\nX-Scheme: https\r\n",
                                       "X-Scheme: https\r\nRSC: 1\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        expect_body(ask_through(client_open(server), upstream,
                                printed(GET("/a", "%s"), ways[i]),
                                REPLY(KEEP LEN(3), "old")),
                    "old");
        expect_cache_status(ask_path(server, "/a", ways[1 - i]), "hit");
        expect_status(ask_through(client_open(server), upstream,
                                  "POST /a HTTP/1.1\r\nHost: a\r\n"
                                  "X-Scheme: https\r\nContent-Length: 2\r\n"
                                  "\r\nhi",
                                  REPLY(LEN(2), "ok")),
                      200);
        expect_status(ask_path(server, "/a",
                               printed("%sCache-Control: only-if-cached\r\n",
                                       ways[i])),
                      504);
    }
}

/* --- PURGE -------------------------------------------------------------- */

/* A cache behind this one may believe whatever comes from here. */
TEST(a_purge_never_goes_on_whatever_comes_with_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    fetch_a(server, upstream, REPLY(KEEP LEN(3), "old"));
    client_say(client, "PURGE /a HTTP/1.1\r\nHost: a\r\n"
                       "Content-Length: 2\r\n\r\nhi");
    expect_body(client_reply(client), "{\"purged\":1}\n");
    client_say(client, "PURGE /a HTTP/1.1\r\nHost: a\r\nVia: 1.1 b\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n");
    expect_status(client_reply(client), 403);
    assert_false(upstream_hears(upstream, 20));
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
            fetch_a(server, upstream,
                    REPLY(KEEP LEN(3) "Cache-Tag: one, two\r\n", "old"));
        expect_body(purge(client, purges[i].target, purges[i].fields),
                    purges[i].says);
        is_kept = strchr(purges[i].says, '0');
        if (is_kept)
            expect_body(get_a(server), "old");
    }
    expect_body(fetch_a(server, upstream, REPLY(KEEP LEN(3), "new")), "new");
}

TEST(what_is_purged_softly_is_asked_about_and_strangers_purge_nothing)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch_a(server, upstream, REPLY(KEEP LEN(3) "ETag: \"v\"\r\n", "old"));
    expect_status(purge(client, "/a", "X-Forwarded-For: 192.0.2.1\r\n"), 403);
    expect_status(purge(client, "/a", "Origin: http://evil.example\r\n"), 403);
    expect_cache_status(get_a(server), "hit");
    expect_body(purge(client, "/a", "Soft-Purge: 1\r\n"), "{\"purged\":1}\n");
    client_say(client, GET("/a", ""));
    peer = upstream_accept(upstream);
    assert_non_null(strstr(answer(peer, "HTTP/1.1 304 Same\r\n" DATED
                                        "Connection: close\r\n" KEEP "\r\n"),
                           "If-None-Match: \"v\""));
    expect_body(client_reply(client), "old");
    expect_cache_status(get_a(server), "hit");
}

TEST(what_is_purged_while_it_is_fetched_is_not_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *one = client_open(server), *other = client_open(server);
    struct client *peer;

    peer = upstream_asked(upstream, one, GET("/a", ""));
    client_say(other, GET("/a", ""));
    expect_body(purge(client_open(server), "/*", NULL), "{\"purged\":0}\n");
    client_say(peer, REPLY(KEEP LEN(3), "old"));
    expect_body(client_reply(one), "old");
    peer = upstream_accept(upstream); /* who waited asks anew */
    (void)answer(peer, REPLY(KEEP LEN(3), "new"));
    expect_body(client_reply(other), "new");
    expect_body(get_a(server), "new");
}

/* Nobody may have it any more, not even who asked before. */
TEST(what_is_purged_while_it_is_asked_about_is_for_nobody)
{
    static const char *const kept = "Cache-Control: max-age=0, "
                                    "stale-if-error=600\r\n"
                                    "ETag: \"v\"\r\n" LEN(3);
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch_a(server, upstream, printed(REPLY("%s", "old"), kept));
    peer = upstream_asked(upstream, client, GET("/a", ""));
    expect_body(purge(client_open(server), "/a", NULL), "{\"purged\":1}\n");
    client_say(peer,
               "HTTP/1.1 503 No\r\nConnection: close\r\n" LEN(4) "\r\nbusy");
    expect_body(client_reply(client), "busy");

    fetch_a(server, upstream, printed(REPLY("%s", "old"), kept));
    peer = upstream_asked(upstream, client, GET("/a", ""));
    expect_body(purge(client_open(server), "/a", NULL), "{\"purged\":1}\n");
    client_say(peer, "HTTP/1.1 304 Same\r\nConnection: close\r\n"
                     "ETag: \"v\"\r\n\r\n");
    (void)answer(upstream_accept(upstream), REPLY(KEEP LEN(3), "new"));
    expect_body(client_reply(client), "new");
}

/* It may be used as far as what is stale may. */
TEST(what_is_purged_softly_while_it_is_asked_about_stays)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    fetch_a(server, upstream,
            REPLY("Cache-Control: max-age=0, stale-if-error=600\r\n"
                  "ETag: \"v\"\r\n" LEN(3),
                  "old"));
    peer = upstream_asked(upstream, client, GET("/a", ""));
    expect_body(purge(client_open(server), "/a", "Soft-Purge: 1\r\n"),
                "{\"purged\":1}\n");
    client_say(peer, "HTTP/1.1 304 Same\r\nConnection: close\r\n"
                     "ETag: \"v\"\r\n\r\n");
    expect_body(client_reply(client), "old");
    peer = upstream_asked(upstream, client, GET("/a", ""));
    client_say(peer,
               "HTTP/1.1 503 No\r\nConnection: close\r\n" LEN(4) "\r\nbusy");
    expect_body(client_reply(client), "old");
}

/* What a stranger says who has that token. */
static const char *stranger(const char *token)
{
    return printed("X-Forwarded-For: 192.0.2.1\r\n"
                   "Authorization: Bearer %s-0123456789abcdef\r\n",
                   token);
}

TEST(who_has_a_token_purges_what_it_is_for_from_elsewhere)
{
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
    fetch_a(server, upstream, REPLY(KEEP LEN(3), "old"));
    expect_status(purge(client, "/a", "X-Forwarded-For: 192.0.2.1\r\n"), 401);
    expect_status(purge(client, "/a", stranger("not")), 401);
    expect_status(purge(client, "/a", stranger("some")), 403);
    expect_status(purge(client, "/*", stranger("some")), 403);
    expect_body(purge(client, "/assets/*", stranger("some")),
                "{\"purged\":0}\n");
    expect_cache_status(get_a(server), "hit");
    expect_body(purge(client, "/a", stranger("all")), "{\"purged\":1}\n");
    assert_false(upstream_hears(upstream, 20));
}

E2E_SUITE(harness_begin);
