/*
 * Answers that are made as they go, compressed on their way: listings, keys and
 * values, statistics, what other servers answer.
 */
#include "client.h"
#include "configured.h"
#include "origin.h"
#include "unpacked.h"
#include "upstream.h"

E2E_BEGIN(start)
{
    for (unsigned i = 0; i < 300; i++)
        site_text(printed("folder/name-%u.txt", i), "");
}

SUITE(.begin = start, .end = harness_end, .each_end = origins_after_test);

static void expect_coded(struct server *server, const char *target,
                         const char *type, const char *part)
{
    for (size_t i = 0; i < WAYS; i++) {
        struct reply *plain = get(server, target);
        struct client *client = client_open(server);
        struct reply *reply;
        size_t len;

        going_on("%s in %s", target, ways[i].token);
        assert_true(reply_lists(plain, "Vary", "Accept-Encoding"));
        reply = client_ask(client, "GET", target,
                           printed("Accept-Encoding: %s\r\n", ways[i].token));
        expect_status(reply, 200);
        expect_field(reply, "Content-Encoding", ways[i].token);
        expect_field(reply, "Content-Type", type);
        assert_true(reply_lists(reply, "Vary", "Accept-Encoding"));
        expect_no_field(reply, "Accept-Ranges");
        assert_non_null(strstr(unpack(reply, &len), part));
        assert_true(reply->body_len < len);
        client_say(client,
                   "HEAD %s HTTP/1.1\r\nHost: localhost\r\n"
                   "Accept-Encoding: %s\r\n\r\n",
                   target, ways[i].token);
        reply = client_reply_to_head(client);
        expect_field(reply, "Content-Encoding", ways[i].token);
        expect_no_field(reply, "Content-Length");
        expect_no_field(reply, "Accept-Ranges");
    }
}

TEST(listings_and_statistics_are_compressed)
{
    struct server *server = START("--autoindex", "--status=/_s");

    expect_coded(server, "/folder/", "text/html; charset=utf-8",
                 "name-299.txt");
    expect_coded(server, "/_s/status.json", "application/json", "\"queue\"");
    expect_coded(server, "/_s/", "text/html; charset=utf-8", "<html");
}

TEST(keys_are_and_values_of_stores_that_say_so)
{
    struct server *server = START(printed("--kv=/a=%s/a", folder()),
                                  printed("--kv=/b=%s/b", folder()),
                                  "--kv-compress=/a");
    struct client *client = client_open(server);
    char *value = scratch(2001);
    struct reply *reply;
    size_t len;

    memset(value, 'v', 2000);
    value[2000] = '\0';
    for (int i = 0; i < 40; i++) {
        client_say(client,
                   "PUT /a/other-key-%d HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Length: 0\r\n\r\n",
                   i);
        expect_status(client_reply(client), 201);
    }
    for (const char *store = "ab"; *store; store++) {
        client_say(client,
                   "PUT /%c/key HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                   *store, strlen(value), value);
        expect_status(client_reply(client), 201);
    }
    expect_coded(server, "/a/", "application/json", "key");
    reply = client_ask(client, "GET", "/b/key", "Accept-Encoding: gzip\r\n");
    expect_body(reply, value);
    expect_field(reply, "ETag", "\"1\"");
    reply = client_ask(client, "GET", "/a/key", "Accept-Encoding: gzip\r\n");
    expect_field(reply, "ETag", "W/\"41\"");
    assert_string_equal(unpack(reply, &len), value);
    /* Parts are of the value itself. */
    reply = client_ask(client, "GET", "/a/key",
                       "Accept-Encoding: gzip\r\nRange: bytes=2-6\r\n");
    expect_status(reply, 206);
    expect_no_field(reply, "Content-Encoding");
    expect_field(reply, "Vary", "Accept-Encoding");
    expect_field(reply, "ETag", "\"41\"");
    expect_body(reply, "vvvvv");
}

/* A cache that is told of another form than the one it has must not go on with
 * that (RFC 9111 4.3.4). */
TEST(a_304_of_a_value_names_the_form_that_the_client_has)
{
    struct server *server = START(printed("--kv=/a=%s/c", folder()),
                                  "--kv-compress=/a");
    struct client *client = client_open(server);
    char *value = scratch(2001);
    static const struct {
        const char *asked;
        const char *told;
    } forms[] = {{"W/\"1\"", "W/\"1\""},
                 {"\"1\"", "\"1\""},
                 {"\"9\", W/\"1\"", "W/\"1\""}};

    memset(value, 'v', 2000);
    value[2000] = '\0';
    client_say(client,
               "PUT /a/key HTTP/1.1\r\nHost: localhost\r\n"
               "Content-Type: text/plain\r\nContent-Length: 2000\r\n\r\n%s",
               value);
    expect_status(client_reply(client), 201);
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        struct reply *reply = client_ask(client, "GET", "/a/key",
                                         printed("Accept-Encoding: gzip\r\n"
                                                 "If-None-Match: %s\r\n",
                                                 forms[i].asked));

        going_on("%s", forms[i].asked);
        expect_status(reply, 304);
        expect_field(reply, "ETag", forms[i].told);
        expect_field(reply, "Vary", "Accept-Encoding");
        expect_field(reply, "Content-Security-Policy", "sandbox");
    }
    expect_status(client_ask(client, "GET", "/a/key", "If-Match: \"2\"\r\n"),
                  412);
}

TEST(a_store_that_is_not_there_is_not_compressed)
{
    struct outcome outcome;

    RUN(&outcome, "-t", "--kv-compress=/c");
    assert_int_not_equal(outcome.status, 0);
    assert_non_null(strstr(outcome.err, "kv-compress"));
}

/* --- Other servers ------------------------------------------------------- */

TEST(what_other_servers_answer_is_compressed_where_that_is_said)
{
    struct origin *origin = origin_start("one");
    struct server *on = START(printed("--proxy=/=%s", origin->at),
                              "--compress-proxied", "--compress-types=*/*");
    struct server *off = START(printed("--proxy=/=%s", origin->at),
                               "--compress-types=*/*");
    static const char *const targets[] = {"/bytes/1/100000", "/chunks/1/100000",
                                          "/close/1/100000"};

    for (size_t i = 0; i < 3; i++) {
        struct reply *reply = ask(off, "GET", targets[i],
                                  "Accept-Encoding: zstd\r\n");

        going_on("%s", targets[i]);
        expect_no_field(reply, "Content-Encoding");
        for (size_t k = 0; k < WAYS; k++) {
            const char *text;
            size_t len;

            reply = ask(on, "GET", targets[i],
                        printed("Accept-Encoding: %s\r\n", ways[k].token));
            expect_field(reply, "Content-Encoding", ways[k].token);
            text = unpack(reply, &len);
            assert_int_equal(len, 100000);
            assert_true(seeded_is(1, 0, text, len));
        }
    }
}

/* Fields of a reply that is left as it is, or not. */
TEST(some_replies_are_left_as_they_are)
{
    static const struct {
        const char *request;
        const char *reply;
        bool is_coded;
    } cases[] = {
        {"", "", true},
        {"", "ETag: \"a\"\r\n", true},
        {"", "Cache-Control: max-age=1, no-transform\r\n", false},
        {"", "Cache-Control: max-age=1\r\nCache-Control: no-transform\r\n",
         false},
        {"", "Content-Encoding: x\r\n", false},
        {"", "Content-Digest: sha-256=:x:\r\n", false},
        {"", "Set-Cookie: a=b\r\n", false},
        {"Cookie: a=b\r\n", "", false},
        {"Cache-Control: no-transform\r\n", "", false},
        {"Authorization: Basic YTpi\r\n", "", false},
    };
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--compress-proxied");
    struct client *client = client_open(server);
    char *body = scratch(2001);

    memset(body, 'a', 2000);
    body[2000] = '\0';
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct client *peer;
        struct reply *reply;

        going_on("%s%s", cases[i].request, cases[i].reply);
        client_say(client,
                   "GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n"
                   "%s\r\n",
                   cases[i].request);
        peer = upstream_accept(upstream);
        client_say(peer,
                   "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                   "%sConnection: close\r\nContent-Length: 2000\r\n\r\n%s",
                   cases[i].reply, body);
        reply = client_reply(client);
        expect_status(reply, 200);
        assert_int_equal(strcmp(coding_of(reply), "gzip") == 0,
                         cases[i].is_coded);
        if (cases[i].is_coded && cases[i].reply[0] == 'E')
            expect_field(reply, "ETag", "W/\"a\"");
        client_close(peer);
    }
}

/* What another server says of what it does not send is told in the same
 * words. */
TEST(what_is_known_upstream_is_called_as_the_client_does)
{
    static const struct {
        const char *named, *told;
        bool varies;
    } cases[] = {{"W/\"a\"", "W/\"a\"", true},
                 {"\"a\"", "\"a\"", false},
                 {"\"b\",W/\"a\"", "W/\"a\"", true}};
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--compress-proxied");
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct client *peer;
        struct reply *reply;

        going_on("%s", cases[i].named);
        client_say(client,
                   "GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n"
                   "If-None-Match: %s\r\n\r\n",
                   cases[i].named);
        peer = upstream_accept(upstream);
        client_say(peer, "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n"
                         "Connection: close\r\n\r\n");
        reply = client_reply(client);
        expect_status(reply, 304);
        expect_field(reply, "ETag", cases[i].told);
        assert_int_equal(reply_lists(reply, "Vary", "Accept-Encoding"),
                         cases[i].varies);
        client_close(peer);
    }
}

/* What stands behind the last chunk, whatever the chunks are. */
static const char *await_trailer(struct client *client)
{
    static const char last[] = "\r\n0\r\n";
    size_t len = 0, before;

    do {
        const char *raw, *at;

        before = len;
        len = client_take(client, before + 1);
        raw = client_raw(client);
        at = memmem(raw, len, last, sizeof(last) - 1);
        if (at && memcmp(raw + len - 4, "\r\n\r\n", 4) == 0) {
            at += sizeof(last) - 1;
            return printed("%.*s", (int)(raw + len - 2 - at), at);
        }
    } while (len > before);
    flunk("there is no end");
}

/* A digest behind the body would be of other bytes: where it is announced the
 * body stays as it is, and otherwise it goes. */
TEST(digests_that_follow_are_of_what_is_sent)
{
    static const struct {
        const char *head, *trailer, *told;
        bool is_coded;
    } cases[] = {{"Trailer: X\r\n", "X: y\r\n", "X: y\r\n", true},
                 {"Trailer: X, repr-digest\r\n",
                  "Repr-Digest: sha-256=:AA==:\r\n",
                  "Repr-Digest: sha-256=:AA==:\r\n", false},
                 {"", "repr-digest: sha-256=:AA==:\r\n", "", true},
                 {"", "X: y\r\nDigest: sha-256=AA==\r\n", "", true}};
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--compress-proxied");
    const char *text = letters(2000);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct client *client = client_open(server);
        struct client *peer;
        bool is_coded;

        going_on("%s%s", cases[i].head, cases[i].trailer);
        client_say(client, "GET /x HTTP/1.1\r\nHost: a\r\n"
                           "Accept-Encoding: gzip\r\nTE: trailers\r\n\r\n");
        peer = upstream_accept(upstream);
        client_say(peer,
                   "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%s"
                   "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "7d0\r\n%s\r\n0\r\n%s\r\n",
                   cases[i].head, text, cases[i].trailer);
        assert_string_equal(await_trailer(client), cases[i].told);
        is_coded = strstr(client_raw(client), "\r\nContent-Encoding: gzip\r\n");
        assert_true(is_coded == cases[i].is_coded);
        client_close(peer);
    }
}

TEST(so_many_at_a_time_and_no_more)
{
    struct upstream *upstream = upstream_open();
    struct server *server = START(printed("--proxy=/=%s", upstream->at),
                                  "--compress-proxied", "--compress-streams=2",
                                  "--workers=1");
    struct client *clients[3];
    struct client *peers[3];

    for (int i = 0; i < 3; i++) {
        clients[i] = client_open(server);
        client_say(clients[i], "GET /x HTTP/1.1\r\nHost: a\r\n"
                               "Accept-Encoding: gzip\r\n\r\n");
        peers[i] = upstream_accept(upstream);
        client_say(peers[i], "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n"
                             "5\r\nhello\r\n");
        client_take(clients[i], 200);
        assert_int_equal(strstr(client_raw(clients[i]),
                                "Content-Encoding: gzip") != NULL,
                         i < 2);
    }
    for (int i = 0; i < 3; i++)
        client_say(peers[i], "0\r\n\r\n");
    expect_no_field(client_reply(clients[2]), "Content-Encoding");
    client_reply(clients[0]);
    client_reply(clients[1]);
    /* There is room again. */
    client_say(clients[2], "GET /x HTTP/1.1\r\nHost: a\r\n"
                           "Accept-Encoding: gzip\r\n\r\n");
    client_say(peers[2] = upstream_hears(upstream, 500)
                              ? upstream_accept(upstream)
                              : peers[2],
               "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
               "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
}

/* More than a turn's share, of several at once, beside small answers. */
TEST(large_ones_share_turns_and_small_answers_pass_them)
{
    enum { CLIENTS = 8, LEN = 3000000 };
    struct origin *origin = origin_start("one");
    struct server *server = START(printed("--proxy=/p/=%s/", origin->at),
                                  "--compress-proxied", "--compress-types=*/*",
                                  "--workers=1");
    struct client *clients[CLIENTS];
    struct client *other = client_open(server);
    size_t len;

    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(server);
        client_say(clients[i],
                   "GET /p/chunks/%u/%u HTTP/1.1\r\nHost: a\r\n"
                   "Accept-Encoding: zstd\r\n\r\n",
                   i, (unsigned)LEN);
    }
    for (int i = 0; i < 200; i++)
        expect_status(client_ask(other, "GET", "/canary", NULL), 200);
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct reply *reply = client_reply(clients[i]);
        const char *text;

        expect_field(reply, "Content-Encoding", "zstd");
        text = unpack(reply, &len);
        assert_int_equal(len, LEN);
        assert_true(seeded_is(i, 0, text, len));
    }
}
