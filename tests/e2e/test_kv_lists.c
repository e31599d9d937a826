/*
 * Lists with values: what a page holds is what the keys hold, and however much
 * that is, a page ends, and the next goes on where it did.
 */
#include "json.h"
#include "store.h"

#define NDJSON "Accept: application/x-ndjson\r\n"

enum { LONGEST = 64 << 10 };

static struct server *server;

E2E_BEGIN(start)
{
    server = START_STORE(store_place(), "--workers=2");
    store_await(server);
}

static char *list(struct client *client, const char *query, const char *fields)
{
    struct reply *reply = store_ask(client, "GET", query, fields, NULL);

    expect_status(reply, 200);
    if (!fields)
        expect_json(reply->body, reply->body_len);
    return printed("%.*s", (int)reply->body_len, reply->body);
}

TEST(values_stand_beside_their_keys)
{
    struct client *client = client_open(server);
    char *text;

    store_put(client, "mixed/a", "one \"\n");
    store_put(client, "mixed/b", "\xFF\x01\xFE");
    store_put(client, "mixed/c", "");
    store_put(client, "mixed/d/e", "below");
    text = list(client, "?prefix=mixed/&values=1&delimiter=/", NULL);
    assert_non_null(strstr(text, ",\"value\":\"one \\\"\\u000a\"},\n"));
    assert_non_null(strstr(text, ",\"value64\":\"/wH+\"},\n"));
    assert_non_null(strstr(text, ",\"value\":\"\"}],\n"));
    assert_non_null(strstr(text, "[{\"prefix\":\"mixed/d/\"}]"));
    assert_null(strstr(text, "below"));
    assert_null(strstr(list(client, "?prefix=mixed/", NULL), "\"value"));
    assert_null(strstr(list(client, "?prefix=mixed/&values=0", NULL),
                       "\"value"));
    expect_problem(store_ask(client, "GET", "?values=yes", NULL, NULL), 400,
                   "values");
    expect_status(store_ask(client, "HEAD", "?values=1", NULL, NULL), 200);
}

/* Characters of two bytes: they stay whole, wherever a piece of it ends. */
TEST(a_value_is_there_up_to_its_limit)
{
    struct client *client = client_open(server);
    char *text = scratch(LONGEST + 2);
    char *got;

    for (int i = 0; i < LONGEST; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    text[LONGEST] = '\0';
    store_put(client, "long/even", text);
    memmove(text + 1, text, LONGEST);
    text[0] = 'o';
    text[LONGEST - 1] = 'd';
    text[LONGEST] = '\0';
    store_put(client, "long/odd", text);
    got = list(client, "?prefix=long/odd&values=1", NULL);
    assert_non_null(strstr(got, printed("\"value\":\"%s\"}", text)));
    text[LONGEST] = 'x';
    text[LONGEST + 1] = '\0';
    store_put(client, "long/too", text);
    got = list(client, "?prefix=long/&values=1", NDJSON);
    assert_non_null(strstr(got, "{\"key\":\"long/even\""));
    got = strstr(got, "{\"key\":\"long/too\",\"size\":65537,");
    assert_non_null(got);
    assert_null(strstr(got, "value"));
    assert_null(strstr(got, "cursor"));
}

TEST(pages_end_by_what_they_hold_and_can_be_resumed)
{
    enum { KEYS = 100, BYTES_EACH = 60000, PAGE_MAX = 6 << 20 };
    struct client *client = client_open(server);
    char *value = scratch(BYTES_EACH + 1);
    const char *cursor = "";
    unsigned seen = 0, pages = 0;

    for (int i = 0; i < KEYS; i++) {
        memset(value, 'a' + i % 26, BYTES_EACH);
        value[BYTES_EACH] = '\0';
        store_put(client, printed("many/%03d", i), value);
    }
    do {
        char *at = list(client, printed("?prefix=many/&values=1%s", cursor),
                        NDJSON);

        assert_true(strlen(at) < PAGE_MAX);
        pages++;
        cursor = NULL;
        for (char *end; (end = strchr(at, '\n')); at = end + 1) {
            *end = '\0';
            if (sscanf(at, "{\"cursor\":\"%*[0-9a-f]\"}") != EOF &&
                memcmp(at, "{\"cursor\":\"", 11) == 0) {
                cursor = printed("&cursor=%.*s", (int)strcspn(at + 11, "\""),
                                 at + 11);
                continue;
            }
            assert_memory_equal(at, printed("{\"key\":\"many/%03u\"", seen),
                                16);
            at = strstr(at, "\"value\":\"");
            assert_non_null(at);
            memset(value, 'a' + (int)seen % 26, BYTES_EACH);
            assert_memory_equal(at + 9, value, BYTES_EACH);
            assert_string_equal(at + 9 + BYTES_EACH, "\"}");
            seen++;
        }
    } while (cursor);
    assert_int_equal(seen, KEYS);
    assert_int_equal(pages, 2);
}

SUITE(.begin = start, .each_end = harness_after_test,
      .run = store_run_anywhere);
