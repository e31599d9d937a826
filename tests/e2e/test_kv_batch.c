/*
 * Many keys at once: batches that are done whole or not at all, and lists, page
 * by page, of what there is. Keys of one batch share a {tag}, as they must in a
 * store of several machines.
 */
#include "store.h"

#include "json.h"

#define NDJSON "Content-Type: application/x-ndjson\r\n"

static struct server *server;

E2E_BEGIN(start)
{
    server = START_STORE(store_place(), NULL);
}

static struct reply *batch(const char *lines)
{
    return store_ask_alone(server, "POST", "-/batch", NDJSON, lines);
}

/* The body as text; freed after the test. */
static const char *text_of(const struct reply *reply)
{
    return printed("%.*s", (int)reply->body_len, reply->body);
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* --- Batches ------------------------------------------------------------- */

TEST(a_batch_tells_what_came_of_each_line)
{
    struct client *client = client_open(server);
    struct reply *reply;
    const char *text;

    store_put(client, "%7Bb%7D/old", "old");
    reply =
        batch("{\"op\":\"put\",\"key\":\"{b}/a\",\"value\":\"\\u00fc\","
              "\"type\":\"text/plain\",\"ttl\":600,\"if\":\"absent\"}\n"
              "{\"op\":\"put\",\"key64\":\"e2J9/w==\",\"value64\":\"AAE=\"}\n"
              "{\"op\":\"check\",\"key\":\"{b}/old\",\"if\":\"*\"}\n"
              "{\"op\":\"delete\",\"key\":\"{b}/old\"}\n"
              "{\"op\":\"delete\",\"key\":\"{b}/none\"}\n");
    expect_status(reply, 200);
    expect_field(reply, "Content-Type", "application/x-ndjson");
    text = text_of(reply);
    assert_non_null(strstr(text, "{\"line\":1,\"status\":201,\"etag\":"));
    assert_non_null(strstr(text, "{\"line\":2,\"status\":201,\"etag\":"));
    assert_non_null(strstr(text, "{\"line\":3,\"status\":200,\"etag\":"));
    assert_non_null(strstr(text, "{\"line\":4,\"status\":204}\n"));
    assert_non_null(strstr(text, "{\"line\":5,\"status\":404}\n"));
    reply = store_ask(client, "GET", "%7Bb%7D/a", NULL, NULL);
    expect_body(reply, "\xc3\xbc");
    expect_field(reply, "Content-Type", "text/plain");
    assert_non_null(reply_field(reply, "X-KV-Expires"));
    reply = store_ask(client, "GET", "%7Bb%7D%FF", NULL, NULL);
    assert_int_equal(reply->body_len, 2);
    assert_memory_equal(reply->body, "\0\1", 2);
    expect_status(store_ask(client, "GET", "%7Bb%7D/old", NULL, NULL), 404);
}

TEST(a_batch_is_done_whole_or_not_at_all)
{
    struct client *client = client_open(server);
    uint64_t revision = store_put(client, "%7Bw%7D/x", "x");
    struct reply *reply;

    reply = batch("{\"op\":\"put\",\"key\":\"{w}/a\",\"value\":\"a\"}\n"
                  "{\"op\":\"delete\",\"key\":\"{w}/x\"}\n"
                  "{\"op\":\"check\",\"key\":\"{w}/y\",\"if\":\"*\"}\n");
    expect_problem(reply, 412, "\"line\":3");
    expect_status(store_ask(client, "GET", "%7Bw%7D/a", NULL, NULL), 404);
    reply = store_ask(client, "GET", "%7Bw%7D/x", NULL, NULL);
    assert_true(reply_revision(reply) == revision);
}

TEST(what_is_no_batch_does_nothing)
{
    static const struct {
        const char *line;
        const char *says;
    } cases[] = {{"{\"op\":\"jump\",\"key\":\"no/a\"}\n", "\"line\":2"},
                 {"{\"op\":\"put\",\"key\":\"\",\"value\":\"\"}\n",
                  "\"line\":2"},
                 {"{\"op\":\"put\",\"key\":\"a\\u0000b\",\"value\":\"\"}\n",
                  "\"line\":2"},
                 {"{\"op\":\"put\"\n", "\"line\":2"},
                 {"\xff\n", "\"line\":2"},
                 {"{\"op\":\"check\",\"key\":\"no/a\",\"sum\":1}\n", "sum"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        going_on("%s", cases[i].line);
        expect_problem(batch(printed("{\"op\":\"put\",\"key\":\"no/b\","
                                     "\"value\":\"b\"}\n%s",
                                     cases[i].line)),
                       400, cases[i].says);
    }
    expect_status(get(server, "/kv/no/b"), 404);
    expect_problem(store_ask_alone(server, "POST", "-/batch", NULL, "{}\n"),
                   415, "ndjson");
}

/* --- Lists --------------------------------------------------------------- */

static void fill(struct client *client, const char *prefix, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        store_say(client, "PUT", printed("%s%05u", prefix, i), NULL, "v");
    for (unsigned i = 0; i < count; i++)
        expect_status(client_reply(client), 201);
}

static const char *list(struct client *client, const char *query)
{
    struct reply *reply = store_ask(client, "GET", query, NULL, NULL);

    expect_status(reply, 200);
    expect_field(reply, "Content-Type", "application/json");
    expect_json(reply->body, reply->body_len);
    return text_of(reply);
}

/* Of a page; NULL: it is the last. */
static const char *cursor_of(const char *page)
{
    const char *at = strstr(page, "\"cursor\":");

    assert_non_null(at);
    at += 9;
    return *at == '"' ? printed("%.*s", (int)strcspn(at + 1, "\""), at + 1)
                      : NULL;
}

TEST(a_list_says_what_is_known_of_keys)
{
    struct client *client = client_open(server);
    const char *page;

    expect_status(store_ask(client, "PUT", "said/a%22b?ttl=100",
                            "Content-Type: text/plain\r\n", "12345"),
                  201);
    store_put(client, "said/%FE", "x");
    page = list(client, "?prefix=said/");
    assert_non_null(strstr(page, "{\"key\":\"said/a\\\"b\",\"size\":5,"));
    assert_non_null(strstr(page, "\"type\":\"text/plain\",\"time\":\"20"));
    assert_non_null(strstr(page, "\"expires\":\"20"));
    assert_non_null(strstr(page, "{\"key64\":\"c2FpZC/+\",\"size\":1,"));
    assert_non_null(strstr(page, "\"expires\":null}"));
    assert_null(cursor_of(page));
    assert_int_equal(count_of(page, "\"key"), 3);
}

TEST(common_prefixes_are_told_once)
{
    struct client *client = client_open(server);
    const char *page;

    fill(client, "tree/one/", 3);
    fill(client, "tree/two/", 3);
    store_put(client, "tree/leaf", "x");
    page = list(client, "?prefix=tree/&delimiter=/");
    assert_int_equal(count_of(page, "\"key\""), 1);
    assert_int_equal(count_of(page, "{\"prefix\":"), 2);
    assert_non_null(strstr(page, "{\"prefix\":\"tree/one/\"}"));
    assert_non_null(strstr(page, "{\"prefix\":\"tree/two/\"}"));
}

TEST(every_key_is_listed_once_while_others_come_and_go)
{
    enum { KEYS = 2500, STEP = 100, PAGES_MAX = 100 };
    struct client *client = client_open(server);
    char *seen = scratch(KEYS);
    const char *cursor = NULL;
    unsigned pages = 0;

    memset(seen, 0, KEYS);
    fill(client, "many/", KEYS);
    do {
        const char *query = printed("?prefix=many/&limit=%d%s%s", STEP,
                                    cursor ? "&cursor=" : "",
                                    cursor ? cursor : "");
        const char *page = list(client, query);

        assert_true(++pages < PAGES_MAX);
        assert_true(count_of(page, "\"key\"") <= STEP);
        for (const char *at = page; (at = strstr(at, "\"many/")); at += 6) {
            unsigned long number = strtoul(at + 6, NULL, 10);

            if (strcspn(at + 6, "\"") != 5) /* one that came meanwhile */
                continue;
            assert_true(number < KEYS);
            assert_int_equal(seen[number]++, 0);
        }
        cursor = cursor_of(page);
        store_put(client, printed("many/00000-%u", pages), "x");
        store_put(client, printed("many/02499-%u", pages), "x");
        store_ask(client, "DELETE", printed("many/00000-%u", pages - 1), NULL,
                  NULL);
    } while (cursor);
    assert_null(memchr(seen, 0, KEYS));
}

TEST(a_list_can_be_lines)
{
    struct client *client = client_open(server);
    struct reply *reply;
    const char *text;

    fill(client, "lines/", 5);
    reply = store_ask(client, "GET", "?prefix=lines/&limit=3",
                      "Accept: application/x-ndjson\r\n", NULL);
    expect_status(reply, 200);
    expect_field(reply, "Content-Type", "application/x-ndjson");
    text = text_of(reply);
    assert_int_equal(count_of(text, "\n"), 4);
    assert_int_equal(count_of(text, "{\"key\":\"lines/"), 3);
    assert_non_null(strstr(text, "\n{\"cursor\":\""));
}

TEST(a_page_has_1000_keys_at_most)
{
    struct client *client = client_open(server);
    const char *page;

    fill(client, "thousand/", 1001);
    page = list(client, "?prefix=thousand/&limit=1000");
    assert_int_equal(count_of(page, "\"key\""), 1000);
    assert_non_null(cursor_of(page));
    expect_problem(store_ask(client, "GET", "?limit=1001", NULL, NULL), 400,
                   "limit");
    expect_problem(store_ask(client, "GET", "?limit=0", NULL, NULL), 400,
                   "limit");
    expect_problem(store_ask(client, "GET", "?cursor=xyz", NULL, NULL), 400,
                   "cursor");
    expect_problem(store_ask(client, "GET", "?sort=up", NULL, NULL), 400,
                   "sort");
}

TEST(an_empty_list_is_a_list)
{
    struct client *client = client_open(server);
    const char *page = list(client, "?prefix=nobody/");

    assert_int_equal(count_of(page, "\"key\""), 0);
    assert_null(cursor_of(page));
    expect_status(store_ask(client, "HEAD", "", NULL, NULL), 200);
}

SUITE(.begin = start, .each_end = harness_after_test,
      .run = store_run_anywhere);
