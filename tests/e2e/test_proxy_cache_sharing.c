/*
 * --proxy-cache: who gets what was kept for whom.
 */
#include "caching.h"

TEST(each_variant_is_kept_for_whom_it_was_made)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    expect_body(ask_through(client, upstream, GET("/a", "Foo: 1\r\n"),
                            REPLY(KEEP LEN(3) "Vary: Foo\r\n", "one")),
                "one");
    expect_cache_status(ask_through(client, upstream, GET("/a", "Foo: 2\r\n"),
                                    REPLY(KEEP LEN(3) "Vary: foo\r\n", "two")),
                        "fwd=vary-miss");
    expect_body(ask_a(client, "Foo: 1\r\n"), "one");
    expect_body(ask_a(client, "Foo: 2\r\n"), "two");
    assert_false(upstream_hears(upstream, 20));
}

/* The client has no such field, and the origin gets one all the same. */
TEST(what_is_made_for_an_address_is_kept_for_nobody)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    expect_body(fetch_a(server, upstream,
                        REPLY(KEEP LEN(3) "Vary: X-Forwarded-For\r\n", "one")),
                "one");
    expect_body(fetch_a(server, upstream,
                        REPLY(KEEP LEN(3) "Vary: Forwarded\r\n", "two")),
                "two");
    expect_body(fetch_a(server, upstream, REPLY(LEN(4), "none")), "none");
}

/* Neither asked for anew, nor when the origin is gone. */
TEST(nobody_gets_the_cookie_of_another)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    expect_cache_status(
        fetch_a(server, upstream,
                REPLY("ETag: \"a\"\r\nSet-Cookie: id=1\r\n" LEN(3), "one")),
        "fwd-status=200");
    client_say(client, GET("/a", "Cookie: id=2\r\n"));
    peer = upstream_accept(upstream);
    assert_null(strcasestr(answer(peer, REPLY("ETag: \"a\"\r\n" LEN(3), "one")),
                           "if-none-match"));
    expect_body(client_reply(client), "one");
    /* What was kept for all takes no cookie in. */
    expect_cache_status(fetch_a(server, upstream,
                                REPLY("ETag: \"a\"\r\n" LEN(3), "one")),
                        "stored");
    client = client_open(server);
    client_say(client, GET("/a", ""));
    peer = upstream_accept(upstream);
    assert_non_null(
        strcasestr(answer(peer, "HTTP/1.1 304 Not Modified\r\n"
                                "ETag: \"a\"\r\nSet-Cookie: id=3\r\n\r\n"),
                   "if-none-match"));
    assert_string_equal(reply_field(client_reply(client), "Set-Cookie"),
                        "id=3");
    assert_null(reply_field(fetch_a(server, upstream, REPLY(LEN(3), "one")),
                            "Set-Cookie"));
}

/* The client asks whether the page is still good, and the origin says so. */
static struct reply *confirm(const struct server *server,
                             const struct upstream *upstream,
                             const char *request, const char *fields)
{
    struct client *client = client_open(server), *peer;

    client_say(client, "%s", request);
    peer = upstream_accept(upstream);
    assert_non_null(strcasestr(answer(peer,
                                      printed("HTTP/1.1 304 Not Modified\r\n"
                                              "Connection: close\r\n"
                                              "ETag: \"a\"\r\n%s\r\n",
                                              fields)),
                               "if-none-match"));
    return client_reply(client);
}

/* It says that the page is the same, and not whose it is. */
TEST(what_a_304_says_to_one_is_for_others_only_if_it_says_so)
{
    static const char mine[] = GET("/a", "Cookie: id=1\r\n");
    static const char anybodys[] = GET("/a", "");
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct reply *reply;

    fetch_a(server, upstream, REPLY("ETag: \"a\"\r\nB: 1\r\n" LEN(3), "one"));
    reply = confirm(server, upstream, mine, "B: 2\r\nX-Name: joe\r\n");
    expect_body(reply, "one");
    expect_field(reply, "B", "2");
    expect_field(reply, "X-Name", "joe");
    reply = confirm(server, upstream, anybodys, "");
    expect_field(reply, "B", "1");
    expect_no_field(reply, "X-Name");
    reply = confirm(server, upstream, anybodys, "B: 3\r\n");
    expect_field(reply, "B", "3");
    reply = confirm(server, upstream, mine, KEEP "B: 4\r\n");
    expect_field(reply, "B", "4");
    reply = get_a(server);
    expect_cache_status(reply, "hit");
    expect_field(reply, "B", "4");
}

/* That others may have the page says nothing of what comes with a 304. */
TEST(what_a_304_says_to_one_is_not_for_others_because_the_page_is)
{
    static const char *const asked[] = {GET("/a", "Cookie: id=1\r\n"),
                                        GET("/a",
                                            "Authorization: Basic YQ\r\n")};

    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream, NULL);
        struct reply *reply;

        fetch_a(server, upstream,
                REPLY("Cache-Control: public, max-age=60\r\n"
                      "ETag: \"a\"\r\nB: 1\r\n" LEN(3),
                      "one"));
        reply = confirm(server, upstream, asked[i], "B: 2\r\nX-Name: joe\r\n");
        expect_body(reply, "one");
        expect_field(reply, "B", "2");
        expect_field(reply, "X-Name", "joe");
        reply = get_a(server);
        expect_cache_status(reply, "hit");
        expect_field(reply, "B", "1");
        expect_no_field(reply, "X-Name");
    }
}

TEST(what_one_with_cookies_gets_is_for_others_only_if_it_says_so)
{
    static const char asked[] = GET("/a", "Cookie: id=1\r\n");
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    expect_body(
        ask_through(client, upstream, asked,
                    "HTTP/1.1 200 OK\r\nConnection: close\r\n"
                    "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n" LEN(
                        4) "\r\nmine"),
        "mine");
    expect_body(fetch_a(server, upstream, REPLY(LEN(4), "none")), "none");
    expect_body(ask_through(client_open(server), upstream, asked,
                            REPLY(KEEP LEN(4), "ours")),
                "ours");
    expect_body(get_a(server), "ours");
}

/* APIs know their users by other fields, too. */
TEST(what_one_with_a_key_or_token_gets_is_for_others_only_if_it_says_so)
{
    static const char *const fields[] = {"X-API-Key: 1\r\n",
                                         "Private-Token: 1\r\n",
                                         "x-auth-user: 1\r\n",
                                         "X_Access_Token: 1\r\n",
                                         "X-Session-Id: 1\r\n",
                                         "Ocp-Apim-Subscription-Key: 1\r\n",
                                         "X-Functions-Key: 1\r\n",
                                         "X_Remote_User: joe\r\n",
                                         "Client-Cert: :MTIz:\r\n",
                                         "X-SSL-Client-DN: CN=joe\r\n",
                                         "SSL_CLIENT_S_DN: CN=joe\r\n",
                                         "Signature: a=:MTIz:\r\n",
                                         "X-Tenant-Id: 1\r\n",
                                         "X-MS-Client-Principal: 1\r\n",
                                         "X-Amzn-Oidc-Data: a.b.c\r\n",
                                         "X-Consumer-Custom-Id: 1\r\n",
                                         "X-Account: 1\r\n",
                                         "iv-user: joe\r\n",
                                         "SM_USER: joe\r\n",
                                         "X-User: joe\r\n",
                                         "Tailscale-User-Login: joe\r\n",
                                         "X-2345678901234567890123456789012345"
                                         "678901234567890123456789012345: 1"
                                         "\r\n"};
    static const char guessed[] =
        "HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"1\"\r\n"
        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n" LEN(4) "\r\nmine";
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        expect_body(ask_through(client_open(server), upstream,
                                printed(GET("/a", "%s"), fields[i]), guessed),
                    "mine");
        expect_body(fetch_a(server, upstream, REPLY(LEN(4), "none")), "none");
    }
    expect_body(ask_through(client_open(server), upstream,
                            printed(GET("/a", "%s"), fields[0]),
                            REPLY(KEEP LEN(4), "ours")),
                "ours");
    expect_body(get_a(server), "ours");
    /* What a client runs on says nothing of who has it. */
    expect_body(ask_through(client_open(server), upstream,
                            GET("/b", "X-User-Agent: x\r\n"), guessed),
                "mine");
    expect_body(ask_path(server, "/b", NULL), "mine");
    /* Nor does that he has clicked, which browsers say. */
    expect_body(ask_through(client_open(server), upstream,
                            GET("/c", "Sec-Fetch-User: ?1\r\n"), guessed),
                "mine");
    expect_body(ask_path(server, "/c", NULL), "mine");
}

/* Some origins take ';' for ','. */
TEST(what_is_said_to_be_private_is_whatever_stands_between)
{
    static const char *const says[] = {
        "private; max-age=60", "max-age=60; private", "no-store;max-age=60",
        "public, no-cache; no-store; must-revalidate"};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--cache-default=60s");

    for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++) {
        fetch_a(server, upstream,
                printed("HTTP/1.1 200 OK\r\nConnection: close\r\n"
                        "Cache-Control: %s\r\n"
                        "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n" LEN(
                            4) "\r\nmine",
                        says[i]));
        expect_status(ask_path(server, "/a",
                               "Cache-Control: only-if-cached\r\n"),
                      504);
    }
}

/* What is in no key must not decide what others get. */
TEST(an_answer_to_a_request_that_means_another_address_is_not_kept)
{
    static const char *const fields[] = {"X-Original-URL: /b\r\n",
                                         "X-HTTP-Method-Override: DELETE\r\n",
                                         "Content-Length: 1\r\n",
                                         "X-Rewrite-URL: /b\r\n",
                                         "X_Rewrite_URL: /b\r\n",
                                         "x-forward-host: b\r\n",
                                         "X-Scheme: https\r\n",
                                         "Front-End-Https: on\r\n",
                                         "RSC: 1\r\n",
                                         "X-Sendfile-Type: X-Sendfile\r\n"};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        const char *asked = printed(GET("/a", "%s") "%s", fields[i],
                                    i == 2 ? "x" : "");

        expect_body(ask_through(client_open(server), upstream, asked,
                                REPLY(KEEP LEN(4), "evil")),
                    "evil");
    }
    expect_body(fetch_a(server, upstream, REPLY(KEEP LEN(4), "good")), "good");
    expect_body(get_a(server), "good");
}

/* The origin does not see the field by which the variant would be kept. */
TEST(who_keeps_a_field_from_the_origin_leaves_nothing_for_those_who_have_it)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;

    client_say(client, GET("/a", "Foo: 1\r\nConnection: foo\r\n"));
    peer = upstream_accept(upstream);
    assert_null(strcasestr(answer(peer,
                                  REPLY(KEEP LEN(4) "Vary: Foo\r\n", "none")),
                           "\nfoo:"));
    expect_body(client_reply(client), "none");
    expect_cache_status(
        ask_through(client, upstream,
                    GET("/a", "Foo: 1\r\nConnection: keep-alive, te\r\n"),
                    REPLY(KEEP LEN(3) "Vary: Foo\r\n", "one")),
        "stored");
    expect_body(ask_a(client, "Foo: 1\r\n"), "one");
    expect_body(ask_through(client, upstream,
                            GET("/a", "Foo: 1\r\nConnection: foo\r\n"),
                            REPLY(KEEP LEN(4) "Vary: Foo\r\n", "none")),
                "none");
    expect_body(ask_a(client, "Foo: 1\r\n"), "one");
}

TEST(hosts_do_not_share_and_what_a_stranger_forwards_does_not_count)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server), *peer;
    const char *asked;

    expect_body(ask_through(client, upstream,
                            "GET /a HTTP/1.1\r\nHost: evil\r\n\r\n",
                            REPLY(KEEP LEN(4), "evil")),
                "evil");
    client_say(client, GET("/a", "X-Forwarded-Host: evil\r\n"));
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
    expect_cache_status(client_ask_host(client, "GET", "good", "/b", NULL),
                        "hit");
}

TEST(who_says_who_he_is_shares_only_what_is_meant_to_be_shared)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    struct client *client = client_open(server);

    expect_body(ask_through(client, upstream,
                            GET("/a", "Authorization: Basic eDp5\r\n"),
                            REPLY(KEEP LEN(4), "mine")),
                "mine");
    fetch_a(server, upstream, REPLY(KEEP LEN(5), "every"));
    expect_body(
        ask_through(
            client, upstream, GET("/a", "Authorization: Basic eDp5\r\n"),
            REPLY("Cache-Control: public, max-age=2000000000\r\n" LEN(6),
                  "public")),
        "public");
    expect_body(get_a(server), "public");
    expect_body(ask_a(client, "Authorization: Basic eDp5\r\n"), "public");
}

/* Some origins say the same lifetime of all that they answer. */
TEST(who_has_not_said_who_he_is_keeps_nobody_out_who_has)
{
    static const char asked[] = GET("/a", "Authorization: Basic eDp5\r\n");
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    expect_status(
        fetch_a(server, upstream,
                "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n"
                "WWW-Authenticate: Basic realm=\"a\"\r\n"
                "Cache-Control: public, max-age=2000000000\r\n" LEN(0) "\r\n"),
        401);
    expect_body(ask_through(client_open(server), upstream, asked,
                            REPLY(KEEP LEN(4), "mine")),
                "mine");
    expect_status(ask_path(server, "/a", "Cache-Control: only-if-cached\r\n"),
                  504);
}

E2E_SUITE(harness_begin);
