#include "json_check.h"
#include "unit/handler/kv/kv_fixture.h"

static void put(const char *path)
{
    char line[2000];

    snprintf(line, sizeof(line), "PUT /kv/%s", path);
    assert_in(kv_ask(line, "", "x"), "HTTP/1.1 201");
}

static const char *list(const char *query)
{
    char line[8000];
    const char *text;

    snprintf(line, sizeof(line), "GET /kv/%s", query);
    text = kv_ask(line, "", NULL);
    assert_in(text, "HTTP/1.1 200");
    assert_in(text, "Vary: Accept\r\n");
    text = kv_unchunk(text);
    if (!json_is_valid(text))
        fail_msg("no JSON: %s", text);
    return text;
}

TEST(an_empty_store_is_an_empty_list)
{
    const char *text;

    assert_string_equal(list(""),
                        "{\"keys\":[],\n\"prefixes\":[],\n\"cursor\":null}\n");
    text = kv_ask("GET /kv/", "Accept: application/x-ndjson\r\n", NULL);
    assert_in(text, "Content-Type: application/x-ndjson\r\n");
    assert_string_equal(kv_unchunk(text), "");
}

TEST(keys_are_told_with_what_is_known_of_them)
{
    kv_ask("PUT /kv/a?ttl=60", "Content-Type: text/\"x\"\r\n", "one");
    put("b");
    assert_string_equal(
        list(""),
        "{\"keys\":[\n{\"key\":\"a\",\"size\":3,\"etag\":\"\\\"1\\\"\","
        "\"type\":\"text/\\\"x\\\"\",\"time\":\"1994-11-06T08:49:32Z\","
        "\"expires\":\"1994-11-06T08:50:37Z\"},\n"
        "{\"key\":\"b\",\"size\":1,\"etag\":\"\\\"2\\\"\","
        "\"type\":\"application/octet-stream\","
        "\"time\":\"1994-11-06T08:49:32Z\",\"expires\":null}],\n"
        "\"prefixes\":[],\n\"cursor\":null}\n");
}

TEST(values_come_with_their_keys_where_asked_for)
{
    static const char bytes[] = {'\0', '\xFF'};

    kv_values.max = KV_LIST_BYTES;
    kv_ask("PUT /kv/a", "", "one \"\n");
    kv_begin("PUT /kv/b", "", (struct bytes){bytes, sizeof(bytes)}, 9);
    kv_finish();
    kv_ask("PUT /kv/c/d", "", "x");
    kv_ask("PUT /kv/e", "", "");
    assert_not_in(list("?values=0"), "\"value");
    assert_in(list("?values=1"),
              "\"expires\":null,\"value\":\"one \\\"\\u000a\"},");
    assert_in(list("?values=1"), "\"value64\":\"AP8=\"},");
    assert_in(list("?values=1"), "\"value\":\"\"}],");
    assert_in(list("?values=1&delimiter=/"),
              "\"prefixes\":[{\"prefix\":\"c/\"}]");
    assert_in(kv_unchunk(kv_ask("GET /kv/?values=1&prefix=e",
                                "Accept: application/x-ndjson\r\n", NULL)),
              "\"value\":\"\"}\n");
    assert_in(kv_ask("GET /kv/?values=2", "", NULL), "HTTP/1.1 400");
    assert_in(kv_ask("HEAD /kv/?values=1", "", NULL), "HTTP/1.1 200");
    kv_values.max = KV_LIST_BYTES - 1;
    assert_in(kv_ask("GET /kv/?values=1", "", NULL), "HTTP/1.1 503");
    assert_in(kv_ask("GET /kv/", "", NULL), "HTTP/1.1 200");
}

TEST(a_list_with_values_ends_before_they_are_too_many)
{
    enum { VALUES = 80, BYTES_EACH = 60000 };
    static char value[BYTES_EACH + 1];
    char line[64];
    const char *text;

    memset(value, 'x', BYTES_EACH);
    kv_options.value_bytes_max = kv_bodies.max = BYTES_EACH;
    kv_values.max = KV_LIST_BYTES;
    kv_renew();
    for (int i = 0; i < VALUES; i++) {
        snprintf(line, sizeof(line), "PUT /kv/%02d", i);
        kv_ask(line, "", value);
    }
    kv_begin("GET /kv/?values=1", "Accept: application/x-ndjson\r\n",
             (struct bytes){NULL, 0}, 0);
    fake.page_most = 0;
    assert_true(sent_look(&exchange, &now));
    for (size_t sent = 0;; sent++) { /* some at a time, and never much */
        struct response *response = &exchange.response;

        assert_true(response->bytes_left <= BODY_PIECE_BYTES + 1000);
        response_advance(response, response->bytes_left);
        if (exchange_is_done(&exchange))
            break;
        assert_int_not_equal(sent_step(&exchange, &now), SENT_FAILED);
        assert_true(sent < 10000);
    }
    assert_true(fake.page_most <= KV_LIST_BYTES / KV_PAGE_VALUE_BYTES_MAX);
    assert_true(exchange.response.body_bytes > 4 << 20);
    assert_true(exchange.response.body_bytes < (4 << 20) + (1 << 20) + 100000);
    text = kv_ask("GET /kv/?limit=1000", "", NULL);
    assert_in(kv_unchunk(text), "\"cursor\":null");
}

TEST(common_prefixes_stand_for_what_is_below)
{
    const char *text;

    put("a/1");
    put("a/2");
    put("b");
    put("c/1/x");
    text = list("?delimiter=/");
    assert_in(text, "\"prefixes\":[{\"prefix\":\"a/\"},\n"
                    "{\"prefix\":\"c/\"}],\n\"cursor\":null");
    assert_in(text, "{\"keys\":[\n{\"key\":\"b\"");
    assert_not_in(text, "a/1");
    text = list("?prefix=c%2F&delimiter=/");
    assert_in(text, "{\"keys\":[],\n\"prefixes\":[{\"prefix\":\"c/1/\"}]");
    text = kv_unchunk(kv_ask("GET /kv/?delimiter=/&limit=1",
                             "Accept: application/x-ndjson\r\n", NULL));
    assert_string_equal(text, "{\"prefix\":\"a/\"}\n{\"cursor\":\"612f\"}\n");
    text = kv_unchunk(kv_ask("GET /kv/?delimiter=/&cursor=612f",
                             "Accept: application/x-ndjson\r\n", NULL));
    assert_in(text, "{\"key\":\"b\"");
    assert_in(text, "}\n{\"prefix\":\"c/\"}\n");
    assert_not_in(text, "cursor");
}

TEST(keys_that_are_no_text_are_told_in_base64)
{
    put("%ff%01");
    put("q%22%5C%0A");
    put("%C3%A9");
    assert_in(list(""), "{\"key64\":\"/wE=\",");
    assert_in(list(""), "{\"key\":\"q\\\"\\\\\\u000a\",");
    assert_in(list(""), "{\"key\":\"\303\251\",");
    assert_in(list("?prefix=q&delimiter=%0A"),
              "{\"prefix\":\"q\\\"\\\\\\u000a\"}");
    assert_in(list("?delimiter=%ff"), "{\"prefix64\":\"/w==\"}");
    assert_in(list("?limit=2"), "\"cursor\":\"c3a9\"");
    assert_in(list("?cursor=c3a9"), "{\"keys\":[\n{\"key64\":\"/wE=\",");
}

TEST(every_key_comes_once_whatever_the_limit)
{
    static const size_t limits[] = {1, 7, 64, 65, 128, 199, 200, 201, 1000};
    char key[400];

    for (size_t i = 0; i < 200; i++) {
        snprintf(key, sizeof(key), "%04zu%0300d", i, 0);
        put(key);
    }
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        char cursor[1100] = "", query[1200];
        size_t found = 0;

        do {
            const char *text, *at;
            size_t here = 0;

            snprintf(query, sizeof(query), "?limit=%zu%s%s", limits[i],
                     *cursor ? "&cursor=" : "", cursor);
            text = list(query);
            for (at = text; (at = strstr(at, "{\"key\":\"")); at++, here++) {
                char wanted[10];

                snprintf(wanted, sizeof(wanted), "%04zu", found++);
                assert_memory_equal(at + 8, wanted, 4);
            }
            assert_true(here <= limits[i]);
            at = strstr(text, "\"cursor\":") + 9;
            *cursor = '\0';
            if (*at == '"')
                assert_int_equal(sscanf(at + 1, "%1099[0-9a-f]", cursor), 1);
        } while (*cursor);
        assert_int_equal(found, 200);
    }
    assert_true(fake.page_most <= 64);
}

TEST(many_prefixes_wait_for_their_turn)
{
    char key[100];
    const char *text;

    for (unsigned i = 0; i < 1001; i++) {
        snprintf(key, sizeof(key), "%04u%060d/x", i, 0);
        put(key);
    }
    text = list("?delimiter=/");
    assert_in(text, "{\"prefix\":\"0000");
    assert_in(text, "{\"prefix\":\"0999");
    assert_not_in(text, "{\"prefix\":\"1000");
    assert_in(text, "\"cursor\":\"30393939");
}

TEST(long_prefixes_end_a_page_before_they_are_too_many)
{
    enum { PREFIXES = 400, BYTES_MOST = (128 << 10) + 64 * 513 };
    char key[600], first[32], query[1200];
    const char *text, *cursor;
    unsigned told = 0;

    for (unsigned i = 0; i < PREFIXES; i++) {
        snprintf(key, sizeof(key), "%04u%0496d/x", i, 0);
        put(key);
    }
    text = list("?delimiter=/");
    for (const char *at = text; (at = strstr(at, "{\"prefix\":\"")); at++)
        told++;
    assert_in_range(told * 503, 128 << 10, BYTES_MOST);
    cursor = strstr(text, "\"cursor\":\"");
    assert_non_null(cursor);
    snprintf(query, sizeof(query), "?delimiter=/&cursor=%.1002s", cursor + 10);
    snprintf(first, sizeof(first), "\"prefix\":\"%04u", told);
    text = list(query);
    assert_memory_equal(strstr(text, "\"prefix\":"), first, strlen(first));
}

TEST(the_longest_entries_fit)
{
    char key[3 * KV_KEY_BYTES_MAX + 1] = "";
    char fields[300];

    for (size_t i = 0; i < KV_KEY_BYTES_MAX; i++)
        memcpy(key + 3 * i, "%01", 4);
    snprintf(fields, sizeof(fields), "Content-Type: %0255d\r\n", 0);
    for (char *at = strchr(fields, '0'); *at == '0'; at++)
        *at = '"';
    for (unsigned i = 0; i < 10; i++) {
        char line[2000];

        key[3 * KV_KEY_BYTES_MAX - 1] = (char)('1' + i % 9);
        key[3 * KV_KEY_BYTES_MAX - 2] = (char)('0' + i / 9);
        snprintf(line, sizeof(line), "PUT /kv/%s", key);
        assert_in(kv_ask(line, fields, "x"), "HTTP/1.1 201");
    }
    assert_in(list(""), "\\u0001\\u0001");
    assert_in(list("?delimiter=%01"),
              "\"prefixes\":[{\"prefix\":\"\\u0001\"}]");
}

TEST(parameters_are_checked)
{
    static const char *const cases[][2] = {
        {"limit=0", "limit"},         {"limit=1001", "limit"},
        {"limit=", "limit"},          {"limit=+5", "limit"},
        {"limit=5&limit=5", "limit"}, {"cursor=abc", "cursor"},
        {"cursor=AB", "cursor"},      {"cursor=00", "cursor"},
        {"cursor=zz", "cursor"},      {"ttl=5", "ttl"},
        {"prefix=%00", "prefix"},     {"%70refix=a&prefix=b", "prefix"},
        {"evil%22=1", "evil\\\""},
    };
    char line[3000], name[100];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        snprintf(line, sizeof(line), "GET /kv/?%s", cases[i][0]);
        snprintf(name, sizeof(name), "\"parameter\":\"%s\"", cases[i][1]);
        assert_in(kv_ask(line, "", NULL), "HTTP/1.1 400");
        assert_in(kv_ask(line, "", NULL), name);
    }
    snprintf(line, sizeof(line), "GET /kv/?prefix=%0512d", 0);
    assert_in(kv_ask(line, "", NULL), "\"parameter\":\"prefix\"");
    snprintf(line, sizeof(line), "GET /kv/?delimiter=%0512d", 0);
    assert_in(kv_ask(line, "", NULL), "\"parameter\":\"delimiter\"");
    snprintf(line, sizeof(line), "GET /kv/?cursor=%01026d", 1);
    assert_in(kv_ask(line, "", NULL), "\"parameter\":\"cursor\"");
    snprintf(line, sizeof(line), "GET /kv/?prefix=%0511d", 0);
    assert_in(kv_ask(line, "", NULL), "HTTP/1.1 200");
}

TEST(a_listing_breaks_off_when_the_store_fails)
{
    char key[20];

    for (unsigned i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%04u", i);
        put(key);
    }
    fake.is_slow = true;
    kv_begin("GET /kv/", "", (struct bytes){NULL, 0}, 0);
    kv_answer();
    assert_true(sent_look(&exchange, &now)); /* answered: the head */
    response_advance(&exchange.response, exchange.response.bytes_left);
    fake.is_failing = true;
    fake.outcome = KV_ERROR;
    for (int i = 0; i < 3 && fake.waiting_count == 0; i++) {
        assert_int_not_equal(sent_step(&exchange, &now), SENT_FAILED);
        response_advance(&exchange.response, exchange.response.bytes_left);
    }
    kv_answer();
    assert_int_equal(sent_step(&exchange, &now), SENT_FAILED);
}

TEST(head_has_no_list)
{
    const char *text;

    put("a");
    text = kv_ask("HEAD /kv/", "", NULL);
    assert_in(text, "Content-Type: application/json\r\n");
    assert_string_equal(text + strlen(text) - 4, "\r\n\r\n");
}

SUITE(.each_begin = kv_set_up, .each_end = kv_tear_down);
