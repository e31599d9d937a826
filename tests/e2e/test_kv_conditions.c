/*
 * Who may read and write which value, and under what conditions: ETags, ranges,
 * tokens, sizes.
 */
#include "store.h"

#define STRANGER "Origin: http://elsewhere.example\r\n"
#define TOKEN_ALL "0123456789abcdefALL"
#define TOKEN_SOME "0123456789abcdefSOME"
#define BEARER(token) STRANGER "Authorization: Bearer " token "\r\n"

static struct server *server;

E2E_BEGIN(start)
{
    server = START_STORE(store_place(), NULL);
}

/* --- Reading ------------------------------------------------------------- */

TEST(readers_who_have_it_are_told_so)
{
    struct client *client = client_open(server);
    uint64_t revision = store_put(client, "read", "0123456789");
    const char *same = printed("If-None-Match: \"%llu\"\r\n",
                               (unsigned long long)revision);
    const char *other = printed("If-Match: \"%llu\"\r\n",
                                (unsigned long long)revision + 1);
    struct reply *reply = store_ask(client, "GET", "read", same, NULL);

    expect_status(reply, 304);
    assert_true(reply_revision(reply) == revision);
    expect_problem(store_ask(client, "GET", "read", other, NULL), 412, "412");
    assert_true(store_put(client, "read", "new") > revision);
    expect_status(store_ask(client, "GET", "read", same, NULL), 200);
}

TEST(parts_of_a_value_can_be_had)
{
    struct client *client = client_open(server);
    uint64_t revision = store_put(client, "parts", "0123456789");
    struct reply *reply = store_ask(client, "GET", "parts",
                                    "Range: bytes=2-4\r\n", NULL);

    expect_status(reply, 206);
    expect_body(reply, "234");
    expect_field(reply, "Content-Range", "bytes 2-4/10");
    expect_field(reply, "Content-Security-Policy", "sandbox");
    expect_body(store_ask(client, "GET", "parts", "Range: bytes=-3\r\n", NULL),
                "789");
    reply = store_ask(client, "GET", "parts", "Range: bytes=0-0,9-9\r\n", NULL);
    expect_status(reply, 206);
    assert_non_null(strstr(reply_field(reply, "Content-Type"),
                           "multipart/byteranges"));
    reply = store_ask(client, "GET", "parts", "Range: bytes=10-\r\n", NULL);
    expect_problem(reply, 416, "416");
    expect_field(reply, "Content-Range", "bytes */10");
    store_put(client, "parts", "other");
    reply = store_ask(client, "GET", "parts",
                      printed("Range: bytes=0-1\r\nIf-Range: \"%llu\"\r\n",
                              (unsigned long long)revision),
                      NULL);
    expect_status(reply, 200);
    expect_body(reply, "other");
}

/* --- Writing ------------------------------------------------------------- */

TEST(a_key_can_be_created_once)
{
    static const char once[] = "If-None-Match: *\r\n";
    struct client *client = client_open(server);
    struct reply *reply = store_ask(client, "PUT", "once", once, "first");
    uint64_t revision = reply_revision(reply);

    expect_status(reply, 201);
    reply = store_ask(client, "PUT", "once", once, "second");
    expect_problem(reply, 412, "condition");
    assert_true(reply_revision(reply) == revision);
    store_holds(client, "once", "first");
}

TEST(only_the_revision_that_was_read_is_replaced)
{
    struct client *client = client_open(server);
    uint64_t old = store_put(client, "swap", "one");
    uint64_t now = store_put(client, "swap", "two");
    const char *stale = printed("If-Match: \"%llu\"\r\n",
                                (unsigned long long)old);
    const char *fresh = printed("If-Match: \"%llu\"\r\n",
                                (unsigned long long)now);
    struct reply *reply = store_ask(client, "PUT", "swap", stale, "three");

    expect_problem(reply, 412, "condition");
    assert_true(reply_revision(reply) == now);
    expect_status(store_ask(client, "DELETE", "swap", stale, NULL), 412);
    store_holds(client, "swap", "two");
    expect_status(store_ask(client, "PUT", "swap", fresh, "three"), 204);
    expect_status(store_ask(client, "DELETE", "swap", fresh, NULL), 412);
    expect_status(store_ask(client, "DELETE", "swap", "If-Match: *\r\n", NULL),
                  204);
    reply = store_ask(client, "PUT", "swap", fresh, "four");
    expect_problem(reply, 412, "condition");
    expect_no_field(reply, "ETag");
    expect_status(store_ask(client, "PUT", "swap", "If-Match: *\r\n", "four"),
                  412);
    expect_status(store_ask(client, "GET", "swap", NULL, NULL), 404);
}

TEST(conditions_that_cannot_be_kept_are_refused)
{
    static const char *const fields[] = {
        "If-None-Match: \"1\"\r\n",
        "If-Match: \"1\", \"2\"\r\n",
        "If-Match: W/*\r\n",
        "If-Match: W/1\r\n",
        "If-Match: *\r\nIf-None-Match: *\r\n",
        "If-Match: 1\r\n",
        "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        going_on("%s", fields[i]);
        expect_problem(store_ask_alone(server, "PUT", "cannot", fields[i], "x"),
                       400, "If-");
    }
    expect_status(get(server, "/kv/cannot"), 404);
}

TEST(blind_writes_can_be_forbidden)
{
    struct server *one = START_STORE(store_place(), "--kv-require-match");
    struct client *client = client_open(one);

    expect_problem(store_ask_alone(one, "PUT", "a", NULL, "x"), 428,
                   "If-Match");
    expect_problem(store_ask_alone(one, "DELETE", "a", NULL, NULL), 428,
                   "If-Match");
    expect_status(store_ask(client, "PUT", "a", "If-None-Match: *\r\n", "x"),
                  201);
    expect_status(store_ask(client, "POST", "", NULL, "named"), 201);
    store_holds(client, "a", "x");
}

TEST(coded_and_partial_values_are_refused)
{
    expect_problem(store_ask_alone(server, "PUT", "coded",
                                   "Content-Encoding: gzip\r\n", "x"),
                   415, "coding");
    expect_problem(store_ask_alone(server, "PUT", "coded",
                                   "Content-Range: bytes 0-0/2\r\n", "x"),
                   400, "whole");
    expect_status(get(server, "/kv/coded"), 404);
}

/* --- Sizes --------------------------------------------------------------- */

TEST(a_value_too_large_is_refused_before_it_comes)
{
    struct server *one = START_STORE(store_place(), "--kv-max-value=1000");
    struct client *client = client_open(one);
    char text[1001];

    client_say(client, "PUT /kv/a HTTP/1.1\r\nHost: localhost\r\n"
                       "Expect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
    expect_problem(client_reply(client), 413, "1000");
    client_expect_end(client);

    client = client_open(one);
    client_say(client, "PUT /kv/a HTTP/1.1\r\nHost: localhost\r\n"
                       "Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
    expect_status(client_reply(client), 100);
    memset(text, 'v', sizeof(text));
    client_send(client, text, 1000);
    expect_status(client_reply(client), 201);

    client = client_open(one);
    client_say(client, "PUT /kv/b HTTP/1.1\r\nHost: localhost\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n3e9\r\n");
    client_send(client, text, sizeof(text));
    client_say(client, "\r\n0\r\n\r\n");
    expect_problem(client_reply(client), 413, "1000");
    expect_status(get(one, "/kv/b"), 404);

    client = client_open(one); /* the size alone is enough */
    client_say(client, "PUT /kv/b HTTP/1.1\r\nHost: localhost\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n1\r\nb\r\n3e8\r\n");
    expect_problem(client_reply(client), 413, "1000");
    client_expect_end(client);
    expect_status(get(one, "/kv/b"), 404);
}

/* --- Who may ------------------------------------------------------------- */

static const char *tokens(void)
{
    site_text("../tokens",
              "# who may write\n" TOKEN_ALL "\n" TOKEN_SOME " logs/\n");
    return printed("%s/tokens", folder());
}

TEST(tokens_say_who_may_write_what)
{
    struct server *one = START_STORE(store_place(), "--kv-token", tokens());
    struct reply *reply;

    reply = store_ask_alone(one, "PUT", "a", STRANGER, "x");
    expect_problem(reply, 401, "token");
    assert_non_null(strstr(reply_field(reply, "WWW-Authenticate"), "Bearer"));
    expect_status(store_ask_alone(one, "PUT", "a", BEARER("0123456789wrongg"),
                                  "x"),
                  401);
    expect_status(store_ask_alone(one, "PUT", "a", BEARER(TOKEN_ALL), "x"),
                  201);
    expect_problem(store_ask_alone(one, "PUT", "a", BEARER(TOKEN_SOME), "x"),
                   403, "not for this key");
    expect_status(store_ask_alone(one, "DELETE", "a", BEARER(TOKEN_SOME), NULL),
                  403);
    expect_status(store_ask_alone(one, "PUT", "logs/1", BEARER(TOKEN_SOME),
                                  "x"),
                  201);
    expect_status(store_ask_alone(one, "POST", "?prefix=logs/",
                                  BEARER(TOKEN_SOME), "x"),
                  201);
    expect_status(store_ask_alone(one, "POST", "", BEARER(TOKEN_SOME), "x"),
                  403);
    expect_status(store_ask_alone(one, "GET", "a", STRANGER, NULL), 200);
    expect_status(store_ask_alone(one, "DELETE", "a", NULL, NULL), 204);
}

TEST(without_tokens_only_this_machine_writes)
{
    static const char from_afar[] = "X-Forwarded-For: 203.0.113.7\r\n";
    struct server *one = START_STORE(store_place(),
                                     "--trusted-proxies=127.0.0.1/32",
                                     "--client-address=x-forwarded-for");

    expect_problem(store_ask_alone(one, "PUT", "a", STRANGER, "x"), 403,
                   "not allowed");
    expect_problem(store_ask_alone(one, "PUT", "a", from_afar, "x"), 403,
                   "not allowed");
    /* A page's own name may lead here as well. */
    expect_problem(store_ask_alone(one, "PUT", "a", "Origin: http://a\r\n",
                                   "x"),
                   403, "not allowed");
    /* Whom a trusted proxy does not name may be anybody. */
    expect_problem(store_ask_alone(one, "PUT", "a", "", "x"), 403,
                   "not allowed");
    expect_problem(store_ask_alone(one, "PUT", "a",
                                   "X-Forwarded-For: unknown\r\n", "x"),
                   403, "not allowed");
    expect_status(store_ask_alone(one, "GET", "a", from_afar, NULL), 404);
}

TEST(this_machine_is_asked_by_its_own_names)
{
    struct server *one = START_STORE(store_place(), "--status-host=kv.example");
    struct client *client = client_open(one);

    expect_status(store_ask_alone(one, "PUT", "a", "", "x"), 201);
    expect_problem(store_ask_alone(one, "PUT", "a", "Via: 1.1 p\r\n", "x"), 403,
                   "not allowed");
    client_say(client, "PUT /kv/a HTTP/1.1\r\nHost: evil.example\r\n"
                       "Content-Length: 1\r\n\r\nx");
    expect_problem(client_reply(client), 403, "not allowed");
    /* As a page of evil.example would, whose name leads here (DNS
     * rebinding). */
    client_say(client, "GET /kv/a HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    expect_problem(client_reply(client), 403, "that Host");
    client_say(client, "GET /kv/ HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    expect_problem(client_reply(client), 403, "that Host");
    client_say(client, "GET /kv/a HTTP/1.1\r\nHost: KV.example:80\r\n\r\n");
    expect_status(client_reply(client), 200);
    client_say(client, "GET /kv/a HTTP/1.1\r\nHost: evil.example\r\n"
                       "X-Forwarded-For: 203.0.113.7\r\n\r\n");
    expect_problem(client_reply(client), 403, "that Host");
}

TEST(writes_can_be_open_to_all)
{
    struct server *one = START_STORE(store_place(), "--kv-open-writes");

    expect_status(store_ask_alone(one, "PUT", "a", STRANGER, "x"), 201);
}

TEST(writes_can_be_forbidden_to_all)
{
    const char *path = store_place();
    struct server *one = START_STORE(path, NULL);

    store_put(client_open(one), "a", "x");
    clients_close();
    server_stop(one);
    one = START_STORE(path, "--kv-read-only", "--kv-token", tokens());
    expect_problem(store_ask_alone(one, "PUT", "a", NULL, "y"), 403,
                   "not allowed");
    expect_status(store_ask_alone(one, "DELETE", "a", BEARER(TOKEN_ALL), NULL),
                  403);
    expect_status(store_ask_alone(one, "POST", "-/batch",
                                  "Content-Type: application/x-ndjson\r\n",
                                  "{\"op\":\"delete\",\"key\":\"a\"}\n"),
                  403);
    store_holds(client_open(one), "a", "x");
}

SUITE(.begin = start, .each_end = harness_after_test,
      .run = store_run_anywhere);
