/*
 * Many keys at once: batches that are done whole or not at all, and lists, page
 * by page, of what there is. Keys of one batch share a {tag}, as they must in a
 * store of several machines.
 */
#include "store.h"

#include "json.h"

#define NDJSON "Content-Type: application/x-ndjson\r\n"

static struct server *server;

static int start(void **state)
{
    if (harness_begin(state) != 0)
        return -1;
    site_text("canary", "canary\n");
    server = START_STORE(store_place(), NULL);
    harness_keep();
    return 0;
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

static void a_batch_tells_what_came_of_each_line(void **state)
{
    struct client *client = client_open(server);
    struct reply *reply;
    const char *text;

    (void)state;
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

static void a_batch_is_done_whole_or_not_at_all(void **state)
{
    struct client *client = client_open(server);
    uint64_t revision = store_put(client, "%7Bw%7D/x", "x");
    struct reply *reply;

    (void)state;
    reply = batch("{\"op\":\"put\",\"key\":\"{w}/a\",\"value\":\"a\"}\n"
                  "{\"op\":\"delete\",\"key\":\"{w}/x\"}\n"
                  "{\"op\":\"check\",\"key\":\"{w}/y\",\"if\":\"*\"}\n");
    expect_problem(reply, 412, "\"line\":3");
    expect_status(store_ask(client, "GET", "%7Bw%7D/a", NULL, NULL), 404);
    reply = store_ask(client, "GET", "%7Bw%7D/x", NULL, NULL);
    assert_true(reply_revision(reply) == revision);
}

static void what_is_no_batch_does_nothing(void **state)
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

    (void)state;
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

static void a_list_says_what_is_known_of_keys(void **state)
{
    struct client *client = client_open(server);
    const char *page;

    (void)state;
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

static void common_prefixes_are_told_once(void **state)
{
    struct client *client = client_open(server);
    const char *page;

    (void)state;
    fill(client, "tree/one/", 3);
    fill(client, "tree/two/", 3);
    store_put(client, "tree/leaf", "x");
    page = list(client, "?prefix=tree/&delimiter=/");
    assert_int_equal(count_of(page, "\"key\""), 1);
    assert_int_equal(count_of(page, "{\"prefix\":"), 2);
    assert_non_null(strstr(page, "{\"prefix\":\"tree/one/\"}"));
    assert_non_null(strstr(page, "{\"prefix\":\"tree/two/\"}"));
}

static void every_key_is_listed_once_while_others_come_and_go(void **state)
{
    enum { KEYS = 2500, STEP = 100, PAGES_MAX = 100 };
    struct client *client = client_open(server);
    char *seen = scratch(KEYS);
    const char *cursor = NULL;
    unsigned pages = 0;

    (void)state;
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

static void a_list_can_be_lines(void **state)
{
    struct client *client = client_open(server);
    struct reply *reply;
    const char *text;

    (void)state;
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

static void a_page_has_1000_keys_at_most(void **state)
{
    struct client *client = client_open(server);
    const char *page;

    (void)state;
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

static void an_empty_list_is_a_list(void **state)
{
    struct client *client = client_open(server);
    const char *page = list(client, "?prefix=nobody/");

    (void)state;
    assert_int_equal(count_of(page, "\"key\""), 0);
    assert_null(cursor_of(page));
    expect_status(store_ask(client, "HEAD", "", NULL, NULL), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        e2e_test(a_batch_tells_what_came_of_each_line),
        e2e_test(a_batch_is_done_whole_or_not_at_all),
        e2e_test(what_is_no_batch_does_nothing),
        e2e_test(a_list_says_what_is_known_of_keys),
        e2e_test(common_prefixes_are_told_once),
        e2e_test(every_key_is_listed_once_while_others_come_and_go),
        e2e_test(a_list_can_be_lines),
        e2e_test(a_page_has_1000_keys_at_most),
        e2e_test(an_empty_list_is_a_list),
    };

    return STORE_RUN(tests, start, STORE_ANYWHERE);
}
