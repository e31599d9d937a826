/*
 * --proxy-cache: origins that lie, and clients that want others to get what is
 * not for them, or the cache to be full of what nobody wants.
 */
#include "caching.h"

static const char *get_of(const char *host, const char *path,
                          const char *fields)
{
    return printed("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, fields);
}

static struct reply *answer_to(const struct server *server, const char *asked)
{
    struct client *client = client_open(server);

    client_say(client, "%s", asked);
    return client_reply(client);
}

/* --- Keys ---------------------------------------------------------------- */

static const struct same_case {
    const char *host;
    const char *path;
    bool is_same; /* as "a" and "/a%7e?x=1" */
} addresses[] = {
    {"a", "/a%7e?x=1", true},     {"A", "/a%7e?x=1", true},
    {"a", "/A%7e?x=1", false},    {"a", "/a~?x=1", false},
    {"a", "/a%7E?x=1", false},    {"a", "/a%7e?x=1&", false},
    {"a", "/a%7e?x=%31", false},  {"a", "/a%7e", false},
    {"a", "/a%7e?", false},       {"a", "//a%7e?x=1", false},
    {"a", "/./a%7e?x=1", false},  {"a", "/a%7e/?x=1", false},
    {"a", "/a%7e;b?x=1", false},  {"a", "/a%7e%3Fx=1", false},
    {"a:81", "/a%7e?x=1", false}, {"b", "/a%7e?x=1", false},
    {"a.", "/a%7e?x=1", false},   {"a", "/a%7e?x=1#b", false},
};

/* Whether two addresses mean the same only the origin knows. */
TEST(an_address_is_the_same_only_where_its_bytes_are)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    ask_through(client_open(server), upstream, get_of("a", "/a%7e?x=1", ""),
                REPLY(KEEP LEN(4), "mine"));
    for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
        struct client *client = client_open(server), *peer;
        struct reply *reply;

        client_say(client, "%s",
                   get_of(addresses[i].host, addresses[i].path, ""));
        if (!client_hears(client, 20) && upstream_hears(upstream, 20)) {
            peer = upstream_accept(upstream);
            hear_head(peer);
            client_say(peer,
                       REPLY("Cache-Control: no-store\r\n" LEN(5), "other"));
        }
        reply = client_reply(client);
        if ((strcmp(reply->body, "mine") == 0) != addresses[i].is_same)
            flunk("%s %s: '%s'", addresses[i].host, addresses[i].path,
                  reply->body);
    }
}

TEST(the_end_of_a_path_keeps_nothing_that_its_origin_does_not_allow)
{
    static const char *const paths[] = {"/account/x.css", "/account;x.js",
                                        "/account%20x.png", "/account?x.ico"};
    static const char *const says[] = {
        "", "Cache-Control: private\r\n", "Cache-Control: no-store\r\n",
        "Set-Cookie: a=b\r\nLast-Modified: Sun, 06 Nov 1984 08:49:37 GMT\r\n",
        "Vary: *\r\n" KEEP};

    for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream, NULL);

        for (size_t k = 0; k < sizeof(paths) / sizeof(*paths); k++) {
            const char *asked = get_of("a", paths[k], "Cookie: me=1\r\n");

            for (int round = 0; round < 2; round++) /* else it would hang */
                expect_body(ask_through(client_open(server), upstream, asked,
                                        printed(REPLY("%s" LEN(6), "secret"),
                                                says[i])),
                            "secret");
        }
    }
}

/* --- Floods -------------------------------------------------------------- */

static size_t count_purged(const struct server *server)
{
    struct reply *reply = answer_to(server,
                                    "PURGE /* HTTP/1.1\r\nHost: a\r\n\r\n");

    assert_non_null(strstr(reply->body, "{\"purged\":"));
    return (size_t)strtoul(reply->body + strlen("{\"purged\":"), NULL, 10);
}

TEST(an_address_has_no_more_variants_than_are_allowed)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (int i = 0; i < 80; i++)
        ask_through(client_open(server), upstream,
                    get_of("a", "/a", printed("Foo: %d\r\n", i)),
                    REPLY(KEEP "Vary: Foo\r\n" LEN(1), "x"));
    assert_int_equal(count_purged(server), 32);
}

TEST(what_varies_by_too_much_is_passed_on_and_not_kept)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    char *fields = scratch(4096);

    memset(fields, 'x', 4000);
    memcpy(fields, "Foo: ", 5);
    memcpy(fields + 4000, "\r\n", 3);
    expect_cache_status(ask_through(client_open(server), upstream,
                                    get_of("a", "/a", fields),
                                    REPLY(KEEP "Vary: Foo\r\n" LEN(1), "x")),
                        "fwd=uri-miss; fwd-status=200");
    expect_cache_status(
        ask_through(client_open(server), upstream, get_of("a", "/a", ""),
                    REPLY(KEEP
                          "Vary: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q\r\n" LEN(1),
                          "x")),
        "fwd=uri-miss; fwd-status=200");
    assert_int_equal(count_purged(server), 0);
}

TEST(parts_of_one_address_are_bounded)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    for (unsigned i = 0; i < 60; i++)
        expect_status(
            ask_through(
                client_open(server), upstream,
                get_of("a", "/a",
                       printed("Range: bytes=%u-%u\r\n", 3 * i, 3 * i)),
                printed(
                    "HTTP/1.1 206 Part\r\nConnection: close\r\n" DATED KEEP
                    "ETag: \"v\"\r\nContent-Range: bytes %u-%u/1000\r\n" LEN(
                        1) "\r\nx",
                    3 * i, 3 * i)),
            206);
    assert_int_equal(count_purged(server), 1);
}

/* --- Lies ---------------------------------------------------------------- */

static const struct lie {
    const char *text;
    const char *said; /* what comes of it before it breaks off */
} lies[] = {
    {"HTTP/1.1 200 OK\r\n" DATED KEEP LEN(10) "\r\nhello", "hello"},
    {"HTTP/1.1 200 OK\r\n" DATED KEEP "Transfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\n",
     "hello"},
    {"HTTP/1.1 200 OK\r\n" DATED KEEP "Transfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\n0\r\n",
     "hello"},
    {"HTTP/1.1 200 OK\r\n" DATED KEEP "Transfer-Encoding: chunked\r\n\r\n"
     "5\r\nhello\r\nx\r\n",
     "hello"},
    {"HTTP/1.1 200 OK\r\n" DATED KEEP "Transfer-Encoding: chunked\r\n\r\n"
     "a\r\nhello",
     "hello"},
};

TEST(what_ends_before_its_end_is_not_kept)
{
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream, NULL);
        struct client *client = client_open(server), *peer;
        struct reply *reply;

        client_say(client, "%s", get_of("a", "/a", ""));
        peer = upstream_accept(upstream);
        hear_head(peer);
        client_say(peer, "%s", lies[i].text);
        client_close(peer);
        if (client_try(client, false, &reply) == CLIENT_REPLY &&
            reply->status == 200)
            flunk("%zu: '%s' looks whole", i, reply->body);
        expect_body(ask_through(client_open(server), upstream,
                                get_of("a", "/a", ""),
                                REPLY(KEEP LEN(5), "whole")),
                    "whole");
    }
}

TEST(what_comes_behind_a_body_is_nobodys_answer)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);

    expect_body(ask_through(client_open(server), upstream,
                            get_of("a", "/a", ""),
                            "HTTP/1.1 200 OK\r\n" DATED KEEP
                                LEN(5) "\r\nhello"
                                       "HTTP/1.1 200 OK\r\n" DATED KEEP
                                           LEN(4) "\r\nevil"),
                "hello");
    expect_body(ask_through(client_open(server), upstream,
                            get_of("a", "/b", ""), REPLY(KEEP LEN(4), "good")),
                "good");
    expect_body(answer_to(server, get_of("a", "/a", "")), "hello");
    expect_body(answer_to(server, get_of("a", "/b", "")), "good");
}

TEST(dates_ages_and_lifetimes_of_any_size_are_borne)
{
    static const char *const fields[] = {
        "Date: Fri, 31 Dec 9999 23:59:59 GMT\r\n" KEEP,
        DATED "Expires: Fri, 31 Dec 9999 23:59:59 GMT\r\n",
        DATED "Last-Modified: Sat, 01 Jan 0000 00:00:00 GMT\r\n",
        DATED "Cache-Control: max-age=99999999999999999999999\r\n",
        DATED KEEP "Age: 99999999999999999999999\r\n",
        "Expires: soon\r\n" KEEP,
        DATED "Cache-Control: max-age=1, stale-while-revalidate="
              "99999999999999999999\r\n"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        struct upstream *upstream = upstream_open();
        struct server *server = START_CACHE(upstream, NULL);

        expect_body(
            ask_through(client_open(server), upstream, get_of("a", "/a", ""),
                        printed("HTTP/1.1 200 OK\r\nConnection: close\r\n"
                                "%s" LEN(2) "\r\nhi",
                                fields[i])),
            "hi");
        expect_body(answer_to(server, get_of("a", "/a",
                                             "Cache-Control: max-stale\r\n")),
                    "hi");
    }
}

TEST(a_head_too_large_is_no_answer_and_one_just_fits)
{
    static const size_t lengths[] = {200000, 8000};
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, NULL);
    char *large = scratch(200000 + 1);
    struct reply *reply;

    memset(large, 'x', 200000);
    for (size_t i = 0; i < 2; i++) {
        struct client *client = client_open(server), *peer;

        client_say(client, "%s", get_of("a", "/a", ""));
        peer = upstream_accept(upstream);
        hear_head(peer);
        client_say(peer, "HTTP/1.1 200 OK\r\n" DATED KEEP LEN(1) "X: ");
        client_send(peer, large, lengths[i]);
        client_say(peer, "\r\n\r\nx");
        expect_status(client_reply(client), i == 0 ? 502 : 200);
    }
    reply = answer_to(server, get_of("a", "/a", ""));
    expect_body(reply, "x");
    assert_int_equal(strlen(reply_field(reply, "X")), 8000);
}

/* --- Memory -------------------------------------------------------------- */

static bool is_stored(struct client *client)
{
    char head[4096];

    client_take(client, 1000); /* the head, and some of the body */
    snprintf(head, sizeof(head), "%.999s", client_raw(client));
    return strstr(head, "; stored") != NULL;
}

/* Asks for it; the upstream sends its beginning. Its connection is
 * *peer_out. */
static struct client *begin_long(const struct server *server,
                                 const struct upstream *upstream, int number,
                                 int bytes, struct client **peer_out)
{
    struct client *client = client_open_narrow(server, 4096);

    client_say(client, "%s", get_of("a", printed("/%d", number), ""));
    *peer_out = upstream_accept(upstream);
    hear_head(*peer_out);
    client_say(*peer_out, REPLY(KEEP "Content-Length: %d\r\n", "%8192d"), bytes,
               1);
    return client;
}

/* What had to make room lies in memory as long as one reads it, however
 * slowly: there is an end of that, and of what is kept meanwhile. */
TEST(who_reads_slowly_what_has_gone_does_not_hold_without_bound)
{
    enum { BODY = 8 << 20, HELD_MAX = 32 << 20, READERS = 12 };
    struct upstream *upstream = upstream_open();
    struct server *server = START_CACHE(upstream, "--proxy-cache-size=16M",
                                        "--proxy-cache-max-object=8M");
    struct client *readers[READERS], *peer;
    char *body = scratch(BODY);
    int count = 0, held = 0;

    memset(body, 'x', BODY);
    for (bool is_kept = true; is_kept && count < READERS; count++) {
        readers[count] = begin_long(server, upstream, count, BODY, &peer);
        is_kept = is_stored(readers[count]);
        if (is_kept) {
            client_send(peer, body, BODY - 8192);
            held += BODY;
            pause_ms(50);
        }
    }
    if (held == 0 || held > HELD_MAX)
        flunk("%d bytes are held by who reads nothing", held);
    while (count > 0)
        client_close(readers[--count]);
    pause_ms(100);
    if (!is_stored(begin_long(server, upstream, READERS + 1, BODY, &peer)))
        flunk("nothing is kept any more");
}

E2E_SUITE(harness_begin);
