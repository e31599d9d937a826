/*
 * Adding to a value: at once, whoever else does, and nothing is lost.
 */
#include "store.h"

#define NDJSON "Content-Type: application/x-ndjson\r\n"

enum { CLIENTS = 100, ROUNDS = 5, SOON_MS = 20000 };

static struct server *server;

E2E_BEGIN(start)
{
    server = START_STORE(store_place(), "--workers=2", "--kv-require-match");
    store_await(server);
}

static struct reply *add(struct client *client, const char *key,
                         const char *fields)
{
    return store_ask(client, "POST", key, fields, NULL);
}

static void expect_sum(struct reply *reply, unsigned status, const char *sum)
{
    expect_status(reply, status);
    expect_body(reply, sum);
    expect_field(reply, "Content-Type", "text/plain");
    expect_field(reply, "Cache-Control", "no-store");
}

static void put(struct client *client, const char *key, const char *fields,
                const char *value)
{
    unsigned status = store_ask(client, "PUT", key,
                                printed("If-None-Match: *\r\n%s", fields),
                                value)
                          ->status;

    assert_int_equal(status, 201);
}

/* --- Alone --------------------------------------------------------------- */

TEST(an_add_says_what_it_comes_to)
{
    struct client *client = client_open(server);
    struct reply *reply = add(client, "n?op=add&by=41", NULL);
    uint64_t revision;

    expect_sum(reply, 201, "41");
    revision = reply_revision(reply);
    expect_sum(add(client, "n?op=add", NULL), 200, "42");
    expect_sum(add(client, "n?op=add&by=-50", NULL), 200, "-8");
    reply = add(client, "n?by=0&op=add", NULL);
    expect_sum(reply, 200, "-8");
    assert_true(reply_revision(reply) > revision);
    revision = reply_revision(reply);
    reply = store_ask(client, "GET", "n", NULL, NULL);
    expect_body(reply, "-8");
    expect_field(reply, "Content-Type", "text/plain");
    assert_true(reply_revision(reply) == revision);
}

/* Whatever stands before and behind the tenth digit, where an engine's numbers
 * may have a seam. */
TEST(sums_are_exact_to_the_last_of_64_bits)
{
    static const struct {
        const char *value;
        const char *by;
        const char *sum; /* NULL: it is beyond */
    } cases[] = {
        {"9223372036854775806", "1", "9223372036854775807"},
        {"9223372036854775807", "0", "9223372036854775807"},
        {"9223372036854775807", "1", NULL},
        {"-9223372036854775807", "-1", "-9223372036854775808"},
        {"-9223372036854775808", "-1", NULL},
        {"-9223372036854775808", "9223372036854775807", "-1"},
        {"9223372036854775807", "-9223372036854775808", "-1"},
        {"9223372036854775807", "9223372036854775807", NULL},
        {"9999999999", "1", "10000000000"},
        {"10000000000", "-1", "9999999999"},
        {"-9999999999", "-1", "-10000000000"},
        {"-10000000000", "1", "-9999999999"},
        {"10000000000", "-20000000001", "-10000000001"},
        {"-10000000005", "20000000000", "9999999995"},
        {"5", "-7", "-2"},
        {"-5", "5", "0"},
        {"10000000007", "-10000000007", "0"},
        {"9007199254740993", "2", "9007199254740995"},
        {"12\n", "1", "13"},
    };
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *key = printed("exact/%zu", i);
        const char *question = printed("%s?op=add&by=%s", key, cases[i].by);

        put(client, key, "", cases[i].value);
        going_on("%s and %s", cases[i].value, cases[i].by);
        if (cases[i].sum) {
            expect_sum(add(client, question, NULL), 200, cases[i].sum);
            store_holds(client, key, cases[i].sum);
        } else {
            expect_problem(add(client, question, NULL), 409, "64 bits");
            store_holds(client, key, cases[i].value);
        }
    }
    going_on("%s", "");
}

TEST(what_is_no_number_is_left_as_it_is)
{
    static const char *const values[] = {"one",
                                         "",
                                         "1 ",
                                         "+1",
                                         "01",
                                         "-0",
                                         "1.5",
                                         "-",
                                         "1\n\n",
                                         "0x10",
                                         "99999999999999999999"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        const char *key = printed("word/%zu", i);
        struct reply *reply;
        uint64_t revision;

        put(client, key, "", values[i]);
        revision = reply_revision(store_ask(client, "HEAD", key, NULL, NULL));
        reply = add(client, printed("%s?op=add", key), NULL);
        going_on("'%s'", values[i]);
        expect_problem(reply, 409, "no whole number");
        assert_true(reply_revision(reply) == revision);
        store_holds(client, key, values[i]);
    }
    going_on("%s", "");
}

TEST(a_question_that_makes_no_sense_is_refused)
{
    static const char *const questions[] = {
        "bad?op=sub",        "bad?op=",
        "bad?by=1",          "bad?op=add&by=",
        "bad?op=add&by=1x",  "bad?op=add&by=%2B1",
        "bad?op=add&by=1.0", "bad?op=add&by=9223372036854775808",
        "bad?op=add&ttl=0",  "bad?op=add&op=add"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        going_on("%s", questions[i]);
        expect_problem(add(client, questions[i], NULL), 400, "parameter");
    }
    going_on("%s", "");
    expect_problem(store_ask(client, "PUT", "bad?op=add", NULL, NULL), 400,
                   "parameter");
    expect_problem(store_ask(client, "DELETE", "bad?op=add", NULL, NULL), 400,
                   "parameter");
    expect_problem(store_ask(client, "POST", "?op=add", NULL, NULL), 400,
                   "parameter");
    expect_problem(store_ask_alone(server, "POST", "bad?op=add", NULL, "5"),
                   400, "no body");
    expect_status(store_ask(client, "GET", "bad", NULL, NULL), 404);
}

TEST(conditions_hold_for_an_add_too)
{
    struct client *client = client_open(server);
    struct reply *reply;

    expect_problem(add(client, "if?op=add", "If-Match: *\r\n"), 412, "");
    expect_sum(add(client, "if?op=add", "If-None-Match: *\r\n"), 201, "1");
    expect_problem(add(client, "if?op=add", "If-None-Match: *\r\n"), 412, "");
    reply = add(client, "if?op=add", "If-Match: *\r\n");
    expect_sum(reply, 200, "2");
    reply = add(client, "if?op=add",
                printed("If-Match: \"%llu\"\r\n",
                        (unsigned long long)reply_revision(reply)));
    expect_sum(reply, 200, "3");
    expect_problem(add(client, "if?op=add", "If-Match: \"1\"\r\n"), 412, "");
    store_holds(client, "if", "3");
}

/* A window that is counted in ends when it was to end when it began. */
TEST(a_value_keeps_its_end_and_its_type)
{
    struct client *client = client_open(server);
    struct reply *reply;
    char *ends;

    reply = add(client, "end?op=add&ttl=100", NULL);
    expect_status(reply, 201);
    assert_non_null(reply_field(reply, "X-KV-Expires"));
    ends = printed("%s", reply_field(reply, "X-KV-Expires"));
    pause_ms(1100);
    expect_field(add(client, "end?op=add&ttl=1000", NULL), "X-KV-Expires",
                 ends);
    expect_field(store_ask(client, "GET", "end", NULL, NULL), "X-KV-Expires",
                 ends);
    put(client, "typed", "Content-Type: text/x\r\n", "1");
    expect_no_field(add(client, "typed?op=add&ttl=100", NULL), "X-KV-Expires");
    reply = store_ask(client, "GET", "typed", NULL, NULL);
    expect_body(reply, "2");
    expect_field(reply, "Content-Type", "text/x");
    expect_no_field(reply, "X-KV-Expires");
    expect_sum(add(client, "short?op=add&by=5&ttl=1", NULL), 201, "5");
    assert_true(eventually(
        store_ask(client, "GET", "short", NULL, NULL)->status == 404, SOON_MS));
    expect_sum(add(client, "short?op=add", NULL), 201, "1");
}

/* --- In a batch ---------------------------------------------------------- */

static struct reply *batch(struct client *client, const char *lines)
{
    return store_ask(client, "POST", "-/batch", NDJSON, lines);
}

TEST(a_batch_adds_with_all_the_rest_or_not_at_all)
{
    struct client *client = client_open(server);
    struct reply *reply;
    char *text;

    reply = batch(client,
                  "{\"op\":\"add\",\"key\":\"{b}n\",\"by\":40}\n"
                  "{\"op\":\"add\",\"key\":\"{b}n\"}\n"
                  "{\"op\":\"put\",\"key\":\"{b}p\",\"value\":\"-1\","
                  "\"if\":\"absent\",\"type\":\"text/x\"}\n"
                  "{\"op\":\"add\",\"key\":\"{b}p\",\"by\":-9007199254740992}\n"
                  "{\"op\":\"delete\",\"key\":\"{b}n\",\"if\":\"*\"}\n"
                  "{\"op\":\"add\",\"key\":\"{b}n\",\"by\":7}\n");
    expect_status(reply, 200);
    text = printed("%.*s", (int)reply->body_len, reply->body);
    assert_non_null(strstr(text, "{\"line\":1,\"status\":201,"));
    assert_non_null(strstr(text, "\"value\":\"40\"}\n{\"line\":2,"
                                 "\"status\":200,"));
    assert_non_null(strstr(text, "\"value\":\"41\"}\n"));
    assert_non_null(strstr(text, "\"value\":\"-9007199254740993\"}\n"));
    assert_non_null(strstr(text, "{\"line\":6,\"status\":201,"));
    assert_non_null(strstr(text, "\"value\":\"7\"}\n"));
    store_holds(client, "{b}n", "7");
    reply = store_ask(client, "GET", "{b}p", NULL, NULL);
    expect_body(reply, "-9007199254740993");
    expect_field(reply, "Content-Type", "text/x");
    put(client, "{b}word", "", "word");
    reply = batch(client, "{\"op\":\"add\",\"key\":\"{b}n\"}\n"
                          "{\"op\":\"add\",\"key\":\"{b}word\"}\n");
    expect_problem(reply, 409, "\"line\":2");
    store_holds(client, "{b}n", "7");
    store_holds(client, "{b}word", "word");
}

TEST(lines_that_make_no_sense_are_refused)
{
    static const char *const lines[] = {
        "{\"op\":\"add\",\"key\":\"a\",\"by\":1.5}",
        "{\"op\":\"add\",\"key\":\"a\",\"by\":\"1\"}",
        "{\"op\":\"add\",\"key\":\"a\",\"by\":1e300}",
        "{\"op\":\"add\",\"key\":\"a\",\"by\":9007199254740994}",
        "{\"op\":\"add\",\"key\":\"a\",\"value\":\"1\"}",
        "{\"op\":\"add\",\"key\":\"a\",\"type\":\"text/x\"}",
        "{\"op\":\"put\",\"key\":\"a\",\"value\":\"1\",\"by\":1,\"if\":\"*\"}",
        "{\"op\":\"delete\",\"key\":\"a\",\"by\":1,\"if\":\"*\"}"};
    struct client *client = client_open(server);

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        going_on("%s", lines[i]);
        expect_problem(batch(client, lines[i]), 400, "member");
    }
    going_on("%s", "");
}

/* --- With others --------------------------------------------------------- */

/* Each number from 1 on is somebody's answer, and nobody else's. */
TEST(a_hundred_clients_lose_nothing)
{
    struct client *clients[CLIENTS];
    static bool seen[CLIENTS * ROUNDS + 1];

    memset(seen, 0, sizeof(seen));
    for (unsigned i = 0; i < CLIENTS; i++)
        clients[i] = client_open(server);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < CLIENTS; i++)
            store_say(clients[i], "POST", "crowd?op=add", NULL, NULL);
        for (unsigned i = 0; i < CLIENTS; i++) {
            struct reply *reply = client_reply(clients[i]);
            char *text = printed("%.*s", (int)reply->body_len, reply->body);
            unsigned long sum = strtoul(text, NULL, 10);

            if (reply->status != 200 && reply->status != 201)
                flunk("%u: %s", reply->status, text);
            assert_true(sum >= 1 && sum <= CLIENTS * ROUNDS && !seen[sum]);
            assert_true((reply->status == 201) == (sum == 1));
            seen[sum] = true;
        }
    }
    store_holds(clients[0], "crowd", printed("%d", CLIENTS * ROUNDS));
}

SUITE(.begin = start, .each_end = harness_after_test,
      .run = store_run_anywhere);
