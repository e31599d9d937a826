/*
 * Keys and values over HTTP: what is put is what is got, under any key, until
 * it is deleted or its time is over.
 */
#include "store.h"

#include <time.h>

enum { KEY_MAX = 511 };

static struct server *server;

E2E_BEGIN(start)
{
    site_text("x", "a file\n");
    server = START_STORE(store_place(), NULL);
}

/* --- One value ----------------------------------------------------------- */

TEST(a_value_comes_as_it_was_put)
{
    struct client *client = client_open(server);
    struct reply *reply = store_ask(client, "PUT", "color",
                                    "Content-Type: text/plain\r\n", "blue");
    uint64_t revision;

    expect_status(reply, 201);
    assert_int_equal(reply->body_len, 0);
    revision = reply_revision(reply);
    reply = store_ask(client, "GET", "color", NULL, NULL);
    expect_status(reply, 200);
    expect_body(reply, "blue");
    expect_field(reply, "Content-Type", "text/plain");
    expect_field(reply, "X-Content-Type-Options", "nosniff");
    expect_field(reply, "Content-Security-Policy", "sandbox");
    expect_field(reply, "Accept-Ranges", "bytes");
    expect_no_field(reply, "X-KV-Expires");
    assert_true(http_date(reply_field(reply, "Last-Modified")) > 0);
    assert_true(reply_revision(reply) == revision);
    reply = store_ask(client, "HEAD", "color", NULL, NULL);
    expect_status(reply, 200);
    assert_int_equal(reply->length, 4);
    assert_true(reply_revision(reply) == revision);
}

TEST(replacing_says_204_and_a_larger_revision)
{
    struct client *client = client_open(server);
    uint64_t first = store_put(client, "replaced", "one");
    struct reply *reply = store_ask(client, "POST", "replaced", NULL, "two");

    expect_status(reply, 204);
    assert_true(reply_revision(reply) > first);
    reply = store_ask(client, "GET", "replaced", NULL, NULL);
    expect_body(reply, "two");
    expect_field(reply, "Content-Type", "application/octet-stream");
}

TEST(a_client_that_ended_its_side_is_answered)
{
    for (int i = 0; i < 20; i++) {
        struct client *client = client_open(server);

        store_say(client, "PUT", printed("said/%d", i), NULL, "all");
        client_half_close(client);
        expect_status(client_reply(client), 201);
        client_expect_end(client);
        client = client_open(server);
        store_say(client, "GET", printed("said/%d", i), NULL, NULL);
        client_half_close(client);
        expect_body(client_reply(client), "all");
        client_expect_end(client);
    }
}

TEST(what_is_deleted_is_missing)
{
    struct client *client = client_open(server);

    store_put(client, "gone", "here");
    expect_status(store_ask(client, "DELETE", "gone", NULL, NULL), 204);
    expect_problem(store_ask(client, "GET", "gone", NULL, NULL), 404,
                   "no such key");
    expect_status(store_ask(client, "HEAD", "gone", NULL, NULL), 404);
    expect_problem(store_ask(client, "DELETE", "gone", NULL, NULL), 404,
                   "no such key");
    expect_status(store_ask(client, "PUT", "gone", NULL, "again"), 201);
}

TEST(an_empty_value_is_a_value)
{
    struct client *client = client_open(server);
    struct reply *reply = store_ask(client, "PUT", "empty", NULL, "");

    expect_status(reply, 201);
    reply = store_ask(client, "GET", "empty", NULL, NULL);
    expect_status(reply, 200);
    assert_int_equal(reply->body_len, 0);
    expect_status(store_ask(client, "PUT", "no-length", NULL, NULL), 201);
    store_holds(client, "no-length", "");
}

TEST(a_chunked_body_is_joined)
{
    struct client *client = client_open(server);

    store_say(client, "PUT", "chunks", "Transfer-Encoding: chunked\r\n", NULL);
    client_say(client, "3\r\nabc\r\n");
    client_say(client, "5\r\ndefgh\r\n0\r\n\r\n");
    expect_status(client_reply(client), 201);
    store_holds(client, "chunks", "abcdefgh");
}

TEST(a_large_value_comes_whole)
{
    enum { BYTES = 1 << 20, SEED = 3 };
    struct client *client = client_open(server);
    char *text = scratch(BYTES);
    struct reply *reply;

    seeded_fill(SEED, 0, text, BYTES);
    client_say(client,
               "PUT /kv/large HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
               "%d\r\n\r\n",
               BYTES);
    client_send(client, text, BYTES);
    expect_status(client_reply(client), 201);
    reply = store_ask(client, "GET", "large", NULL, NULL);
    expect_status(reply, 200);
    expect_seeded(reply, SEED, 0, BYTES);
    reply = store_ask(client, "GET", "large",
                      "Range: bytes=1048000-1048099\r\n", NULL);
    expect_status(reply, 206);
    expect_seeded(reply, SEED, 1048000, 100);
}

TEST(values_of_any_bytes_keep_them)
{
    struct client *client = client_open(server);
    struct reply *reply;
    char all[256];

    for (size_t i = 0; i < sizeof(all); i++)
        all[i] = (char)i;
    client_say(client, "PUT /kv/bytes HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Length: 256\r\n\r\n");
    client_send(client, all, sizeof(all));
    expect_status(client_reply(client), 201);
    reply = store_ask(client, "GET", "bytes", NULL, NULL);
    assert_int_equal(reply->body_len, sizeof(all));
    assert_memory_equal(reply->body, all, sizeof(all));
}

/* --- Keys ---------------------------------------------------------------- */

/* What is one key in several spellings stands in one row. */
TEST(keys_are_any_bytes_but_nul)
{
    static const char *const keys[][2] = {{"a", "%61"},
                                          {"a//b", "a/%2Fb"},
                                          {"a/../b", "a/%2e./b"},
                                          {"..", "%2E%2E"},
                                          {"/", "%2F"},
                                          {".", "%2e"},
                                          {"/../x", "%2f../x"},
                                          {"%2525", "%25%32%35"},
                                          {"%FF%fe", "%ff%FE"},
                                          {"a+b", "a%2Bb"},
                                          {"%20", "%20"},
                                          {"%0D%0A", "%0d%0a"},
                                          {"%2D/batch", "%2D%2Fbatch"},
                                          {"-/other", "%2D/other"},
                                          {"gr%C3%BCn", "g%72%c3%bcn"},
                                          {"b/", "b%2F"},
                                          {"a;b", "a%3Bb"},
                                          {"%3F", "%3f"},
                                          {"%01", "%01"}};
    enum { COUNT = sizeof(keys) / sizeof(*keys) };
    struct client *client = client_open(server);

    for (size_t i = 0; i < COUNT; i++) {
        going_on("%s", keys[i][0]);
        expect_status(store_ask(client, "PUT", keys[i][0], NULL, keys[i][0]),
                      201);
    }
    for (size_t i = 0; i < COUNT; i++) {
        store_holds(client, keys[i][0], keys[i][0]);
        store_holds(client, keys[i][1], keys[i][0]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        going_on("%s", keys[i][1]);
        expect_status(store_ask(client, "DELETE", keys[i][1], NULL, NULL), 204);
    }
    expect_body(client_ask(client, "GET", "/x", NULL), "a file\n");
}

TEST(keys_have_511_bytes_at_most)
{
    struct client *client = client_open(server);
    char plain[KEY_MAX + 2], encoded[3 * KEY_MAX + 1];

    memset(plain, 'k', sizeof(plain));
    plain[KEY_MAX] = '\0';
    for (size_t i = 0; i < KEY_MAX; i++)
        memcpy(encoded + 3 * i, "%6b", 3);
    encoded[3 * KEY_MAX] = '\0';
    expect_status(store_ask(client, "PUT", plain, NULL, "long"), 201);
    store_holds(client, encoded, "long");
    plain[KEY_MAX] = 'k';
    plain[KEY_MAX + 1] = '\0';
    expect_problem(store_ask_alone(server, "PUT", plain, NULL, "x"), 400,
                   "511");
    expect_problem(store_ask(client, "GET", plain, NULL, NULL), 400, "511");
}

TEST(what_is_no_key_is_refused)
{
    static const char *const keys[] = {"%00", "a%00b"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < 2; i++)
        expect_problem(store_ask(client, "GET", keys[i], NULL, NULL), 400,
                       "NUL");
    client_expect_usable(client);
}

TEST(a_broken_escape_is_refused)
{
    expect_status(get(server, "/kv/%zz"), 400);
    expect_status(get(server, "/kv/%4"), 400);
}

TEST(other_spellings_of_the_prefix_lead_to_no_key)
{
    struct client *client = client_open(server);
    struct reply *reply;

    store_put(client, "spelled", "secret");
    reply = client_ask(client, "GET", "/%6bv/spelled", NULL);
    assert_true(reply->status >= 400);
    reply = client_ask(client, "GET", "//kv/spelled", NULL);
    assert_true(reply->status >= 300);
    expect_status(client_ask(client, "GET", "/kvspelled", NULL), 404);
}

/* --- Methods ------------------------------------------------------------- */

TEST(a_key_can_be_named_by_the_server)
{
    struct client *client = client_open(server);
    char *places[3];

    for (int i = 0; i < 3; i++) {
        struct reply *reply = store_ask(client, "POST", "?prefix=log/%C3%BC-",
                                        NULL, printed("line %d", i));
        const char *place = reply_field(reply, "Location");

        expect_status(reply, 201);
        assert_true(reply_revision(reply) > 0);
        assert_non_null(place);
        assert_memory_equal(place, "/kv/log/%C3%BC-", 15);
        places[i] = printed("%s", place);
    }
    assert_true(strcmp(places[0], places[1]) < 0);
    assert_true(strcmp(places[1], places[2]) < 0);
    for (int i = 0; i < 3; i++)
        expect_body(client_ask(client, "GET", places[i], NULL),
                    printed("line %d", i));
}

TEST(other_methods_are_told_which_there_are)
{
    static const struct {
        const char *key;
        const char *method;
        const char *allow;
    } cases[] = {{"a", "PATCH", "GET, HEAD, PUT, POST, DELETE, OPTIONS"},
                 {"", "PUT", "GET, HEAD, POST, OPTIONS"},
                 {"", "DELETE", "GET, HEAD, POST, OPTIONS"},
                 {"-/batch", "GET", "POST, OPTIONS"},
                 {"-/batch", "PUT", "POST, OPTIONS"},
                 {"-/batch", "DELETE", "POST, OPTIONS"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct client *client = client_open(server);
        struct reply *reply;

        going_on("%s /kv/%s", cases[i].method, cases[i].key);
        reply = store_ask(client, cases[i].method, cases[i].key, NULL, NULL);
        expect_problem(reply, 405, "405");
        expect_field(reply, "Allow", cases[i].allow);
        reply = store_ask(client, "OPTIONS", cases[i].key, NULL, NULL);
        expect_status(reply, 204);
        expect_field(reply, "Allow", cases[i].allow);
    }
}

TEST(queries_nobody_knows_are_refused)
{
    struct client *client = client_open(server);

    store_put(client, "queried", "x");
    expect_problem(store_ask(client, "GET", "queried?a=b", NULL, NULL), 400,
                   "\"a\"");
    expect_problem(store_ask_alone(server, "PUT", "queried?ttl=x", NULL, "y"),
                   400, "ttl");
    expect_problem(store_ask_alone(server, "PUT", "queried?ttl=0", NULL, "y"),
                   400, "ttl");
    expect_problem(store_ask_alone(server, "PUT", "queried?ttl=1&ttl=2", NULL,
                                   "y"),
                   400, "twice");
    store_holds(client, "queried", "x");
}

TEST(pipelined_requests_are_done_in_their_order)
{
    enum { TURNS = 40 };
    struct client *client = client_open(server);

    for (int i = 0; i < TURNS; i++) {
        store_say(client, "PUT", "ordered", NULL, printed("turn %d", i));
        store_say(client, "GET", "ordered", NULL, NULL);
    }
    store_say(client, "DELETE", "ordered", NULL, NULL);
    store_say(client, "GET", "ordered", NULL, NULL);
    for (int i = 0; i < TURNS; i++) {
        going_on("turn %d", i);
        expect_status(client_reply(client), i == 0 ? 201 : 204);
        expect_body(client_reply(client), printed("turn %d", i));
    }
    expect_status(client_reply(client), 204);
    expect_status(client_reply(client), 404);
}

/* --- Time ---------------------------------------------------------------- */

TEST(a_value_is_gone_after_its_time)
{
    struct client *client = client_open(server);
    struct reply *reply;
    int64_t expires_s;

    reply = store_ask(client, "PUT", "brief?ttl=2", NULL, "x");
    expect_status(reply, 201);
    expires_s = http_date(reply_field(reply, "X-KV-Expires"));
    expect_status(store_ask(client, "PUT", "longer?ttl=1000", NULL, "x"), 201);
    reply = store_ask(client, "GET", "longer", NULL, NULL);
    assert_true(http_date(reply_field(reply, "X-KV-Expires")) >
                expires_s + 900);
    assert_true(eventually(
        store_ask(client, "GET", "brief", NULL, NULL)->status == 404, 10000));
    assert_true(time(NULL) + 1 >= expires_s);
    expect_status(store_ask(client, "PUT", "brief", NULL, "y"), 201);
    reply = store_ask(client, "GET", "brief", NULL, NULL);
    expect_no_field(reply, "X-KV-Expires");
}

SUITE(.begin = start, .each_end = harness_after_test,
      .run = store_run_anywhere);
