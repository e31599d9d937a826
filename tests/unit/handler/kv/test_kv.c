#include "unit/handler/kv/kv_fixture.h"

#define PUT_OK "HTTP/1.1 201 Created\r\n"

TEST(a_value_that_was_put_is_got)
{
    assert_string_equal(kv_ask("PUT /kv/a", "Content-Type: text/x\r\n", "one"),
                        "HTTP/1.1 201 Created\r\n" BEGIN
                        "ETag: \"1\"\r\nContent-Length: 0\r\n\r\n");
    assert_string_equal(kv_ask("GET /kv/a", "", NULL),
                        "HTTP/1.1 200 OK\r\n" BEGIN
                        "Content-Type: text/x\r\nContent-Length: 3\r\n"
                        "Accept-Ranges: bytes\r\nETag: \"1\"\r\n"
                        "Last-Modified: Sun, 06 Nov 1994 08:49:32 GMT\r\n"
                        "Cache-Control: no-cache\r\n"
                        "Content-Security-Policy: sandbox\r\n\r\none");
    assert_string_equal(kv_ask("PUT /kv/a", "", "two"),
                        "HTTP/1.1 204 No Content\r\n" BEGIN
                        "ETag: \"2\"\r\n\r\n");
    assert_in(kv_ask("GET /kv/a", "", NULL),
              "Content-Type: application/octet-stream\r\n");
    assert_in(kv_ask("POST /kv/a", "", "three"), "HTTP/1.1 204");
    assert_in(kv_ask("GET /kv/a", "", NULL), "\r\n\r\nthree");
}

TEST(head_tells_the_length_without_the_value)
{
    const char *text;

    kv_ask("PUT /kv/a", "", "one");
    text = kv_ask("HEAD /kv/a", "", NULL);
    assert_in(text, "Content-Length: 3\r\n");
    assert_string_equal(text + strlen(text) - 4, "\r\n\r\n");
    assert_in(kv_ask("HEAD /kv/b", "", NULL), "HTTP/1.1 404");
}

TEST(an_empty_value_is_one)
{
    assert_in(kv_ask("PUT /kv/a", "", NULL), PUT_OK);
    assert_in(kv_ask("PUT /kv/b", "", ""), PUT_OK);
    assert_in(kv_ask("GET /kv/a", "", NULL), "Content-Length: 0\r\n");
}

/* Short bodies lie in the write itself; what is used again shows nothing of
 * who had it before. */
TEST(values_of_every_length_are_whole)
{
    static const size_t lengths[] = {600, 1, 511, 512, 513, 2, 1000, 512};
    static char value[1001];

    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        memset(value, 'a' + (int)i, lengths[i]);
        value[lengths[i]] = '\0';
        assert_in(kv_ask("PUT /kv/long", "", value),
                  i == 0 ? "HTTP/1.1 201" : "HTTP/1.1 204");
        assert_string_equal(strstr(kv_ask("GET /kv/long", "", NULL),
                                   "\r\n\r\n") +
                                4,
                            value);
    }
}

TEST(ranges_and_conditions_are_those_of_files)
{
    const char *text;

    kv_ask("PUT /kv/a", "", "0123456789");
    assert_in(kv_ask("GET /kv/a", "Range: bytes=2-4\r\n", NULL),
              "HTTP/1.1 206 Partial Content\r\n");
    assert_in(kv_ask("GET /kv/a", "Range: bytes=2-4\r\n", NULL), "\r\n\r\n234");
    assert_in(kv_ask("GET /kv/a", "Range: bytes=0-0,8-9\r\n", NULL),
              "multipart/byteranges");
    assert_in(kv_ask("GET /kv/a", "If-None-Match: \"1\"\r\n", NULL),
              "HTTP/1.1 304");
    assert_in(kv_ask("GET /kv/a", "If-None-Match: \"2\"\r\n", NULL),
              "HTTP/1.1 200");
    text = kv_ask("GET /kv/a", "Range: bytes=10-\r\n", NULL);
    assert_in(text, "HTTP/1.1 416");
    assert_in(text, "Content-Range: bytes */10\r\n");
    assert_in(text, "application/problem+json");
    text = kv_ask("GET /kv/a", "If-Match: \"2\"\r\n", NULL);
    assert_in(text, "HTTP/1.1 412");
    assert_in(text, "ETag: \"1\"\r\n");
    assert_in(text, "application/problem+json");
}

TEST(a_value_is_not_fetched_for_an_answer_without_it)
{
    static const struct {
        const char *fields;
        const char *begin;
        bool is_spared;
    } cases[] = {
        {"If-None-Match: \"1\"\r\n", "HTTP/1.1 304", true},
        {"If-None-Match: \"7\", W/\"1\"\r\n", "HTTP/1.1 304", true},
        {"If-None-Match: *\r\nRange: bytes=0-1\r\n", "HTTP/1.1 304", true},
        {"If-Modified-Since: Sun, 06 Nov 1994 08:49:32 GMT\r\n", "HTTP/1.1 304",
         true},
        {"If-Match: \"2\"\r\n", "HTTP/1.1 412", true},
        {"If-None-Match: \"2\"\r\n", "HTTP/1.1 200", false},
        {"If-Match: \"1\"\r\n", "HTTP/1.1 200", false},
        {"Range: bytes=2-4\r\n", "HTTP/1.1 206", false},
        {"Range: bytes=10-\r\n", "HTTP/1.1 416", false},
        {"", "HTTP/1.1 200", false},
    };

    kv_ask("PUT /kv/a", "", "0123456789");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t before = fake.spared;

        assert_in(kv_ask("GET /kv/a", cases[i].fields, NULL), cases[i].begin);
        assert_int_equal(fake.spared - before, cases[i].is_spared);
        /* A store that answers later is not told, and gives all of it. */
        fake.is_slow = true;
        assert_in(kv_ask("GET /kv/a", cases[i].fields, NULL), cases[i].begin);
        fake.is_slow = false;
    }
}

/* Another machine's clock is ahead, or ours was set back. */
TEST(a_date_in_the_future_is_not_told)
{
    const char *text;

    kv_ask("PUT /kv/a", "", "one");
    fake.records[0].value->meta.stored_ms = now.wall_s * 1000 + 999;
    assert_in(kv_ask("GET /kv/a", "", NULL),
              "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    fake.records[0].value->meta.stored_ms++;
    text = kv_ask("GET /kv/a", "Range: bytes=0-0\r\n", NULL);
    assert_in(text, "HTTP/1.1 206");
    assert_in(text, "ETag: \"1\"\r\n");
    assert_not_in(text, "Last-Modified");
    assert_not_in(kv_ask("HEAD /kv/a", "", NULL), "Last-Modified");
    text = kv_ask("GET /kv/a",
                  "If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT\r\n", NULL);
    assert_in(text, "HTTP/1.1 200");
}

TEST(what_is_not_there_is_a_problem)
{
    assert_string_equal(
        kv_ask("GET /kv/a", "", NULL),
        "HTTP/1.1 404 Not Found\r\n" BEGIN "Cache-Control: no-store\r\n"
        "Content-Type: application/problem+json\r\n"
        "Content-Length: 88\r\n\r\n"
        "{\"type\":\"about:blank\",\"title\":\"Not Found\","
        "\"status\":404,\"detail\":\"there is no such key\"}\n");
}

TEST(a_deleted_key_is_gone)
{
    assert_in(kv_ask("DELETE /kv/a", "", NULL), "HTTP/1.1 404");
    kv_ask("PUT /kv/a", "", "one");
    assert_in(kv_ask("DELETE /kv/a", "If-Match: \"7\"\r\n", NULL),
              "HTTP/1.1 412");
    assert_string_equal(kv_ask("DELETE /kv/a", "If-Match: \"1\"\r\n", NULL),
                        "HTTP/1.1 204 No Content\r\n" BEGIN "\r\n");
    assert_in(kv_ask("GET /kv/a", "", NULL), "HTTP/1.1 404");
}

TEST(conditions_decide_who_may_replace)
{
    static const struct {
        const char *fields;
        const char *status;
    } cases[] = {
        {"If-None-Match: *\r\n", "412"},
        {"If-Match: \"1\"\r\n", "204"}, /* becomes 2 */
        {"If-Match: \"1\"\r\n", "412"},
        {"If-Match: *\r\n", "204"}, /* 3 */
        {"If-Match: W/\"3\"\r\n", "412"},
        {"If-Match: \"03\"\r\n", "412"},
        {"If-Match: \"abc\"\r\n", "412"},
        {"If-Match: \"99999999999999999999999\"\r\n", "412"},
        {"If-Match: 3\r\n", "400"},
        {"If-Match: \"3\", \"4\"\r\n", "400"},
        {"If-Match: \"3\"\r\nIf-Match: \"4\"\r\n", "400"},
        {"If-Match:\r\n", "400"},
        {"If-None-Match: \"3\"\r\n", "400"},
        {"If-None-Match: *\r\nIf-None-Match: *\r\n", "400"},
        {"If-None-Match: *\r\nIf-Match: *\r\n", "400"},
        {"If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "400"},
        /* "MUST ignore If-Unmodified-Since if ... If-Match" */
        {"If-Match: \"2\"\r\n"
         "If-Unmodified-Since: Sun, 06 Nov 2044 08:49:37 GMT\r\n",
         "412"},
        {"If-Match: \"3\"\r\n"
         "If-Unmodified-Since: Sun, 06 Nov 1984 08:49:37 GMT\r\n",
         "204"},
    };

    assert_in(kv_ask("PUT /kv/a", "If-Match: *\r\n", "x"), "HTTP/1.1 412");
    assert_in(kv_ask("PUT /kv/a", "If-None-Match: *\r\n", "x"), PUT_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text = kv_ask("PUT /kv/a", cases[i].fields, "y");

        if (memcmp(text + 9, cases[i].status, 3) != 0)
            fail_msg("%s: %s", cases[i].fields, text);
        if (strcmp(cases[i].status, "412") == 0)
            assert_in(text, "\r\nETag: \"");
    }
}

TEST(conditions_that_are_about_no_key_are_refused)
{
    static const char *const fields[] = {
        "If-Match: \"1\"\r\n", "If-Match: *\r\n", "If-None-Match: *\r\n",
        "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"};
    char lines[200];

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        snprintf(lines, sizeof(lines),
                 "Content-Type: application/x-ndjson\r\n%s", fields[i]);
        assert_in(kv_ask("POST /kv/", fields[i], "x"), "HTTP/1.1 400");
        assert_in(kv_ask("POST /kv/-/batch", lines,
                         "{\"op\":\"put\",\"key\":\"a\",\"value\":\"\"}\n"),
                  "HTTP/1.1 400");
    }
    assert_int_equal(fake.count, 0);
}

TEST(writes_must_be_conditional_where_that_is_said)
{
    kv_options.require_match = true;
    kv_renew();
    assert_in(kv_ask("PUT /kv/a", "", "x"), "HTTP/1.1 428");
    assert_in(kv_ask("DELETE /kv/a", "", NULL), "HTTP/1.1 428");
    assert_in(kv_ask("PUT /kv/a", "If-None-Match: *\r\n", "x"), PUT_OK);
    assert_in(kv_ask("POST /kv/", "", "x"), PUT_OK);
    assert_in(kv_ask("POST /kv/-/batch",
                     "Content-Type: application/x-ndjson\r\n",
                     "{\"op\":\"delete\",\"key\":\"a\"}\n"),
              "HTTP/1.1 428");
}

TEST(a_time_to_live_is_told)
{
    static const char *const bad[] = {"0", "-1", "1.5", "", "3153600001", "x"};
    char line[100];

    assert_in(kv_ask("PUT /kv/a?ttl=60", "", "x"),
              "X-KV-Expires: Sun, 06 Nov 1994 08:50:37 GMT\r\n");
    assert_in(kv_ask("GET /kv/a", "", NULL),
              "X-KV-Expires: Sun, 06 Nov 1994 08:50:37 GMT\r\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        snprintf(line, sizeof(line), "PUT /kv/a?ttl=%s", bad[i]);
        assert_in(kv_ask(line, "", "x"), "\"parameter\":\"ttl\"");
    }
    assert_in(kv_ask("PUT /kv/a?ttl=3153600000", "", "x"), "HTTP/1.1 204");
    assert_in(kv_ask("DELETE /kv/a?ttl=1", "", NULL), "HTTP/1.1 400");
    assert_in(kv_ask("GET /kv/a?limt=3", "", NULL), "\"parameter\":\"limt\"");
}

TEST(the_store_names_a_key)
{
    assert_in(kv_ask("POST /kv/", "", "x"),
              "Location: /kv/000000000000001x\r\n");
    assert_in(kv_ask("POST /kv", "", "x"),
              "Location: /kv/000000000000002x\r\n");
    assert_in(kv_ask("POST /kv/?prefix=a%20b/", "", "y"),
              "Location: /kv/a%20b/000000000000003x\r\n");
    assert_in(kv_ask("GET /kv/a%20b/000000000000003x", "", NULL), "\r\n\r\ny");
}

TEST(a_value_too_long_is_refused_before_it_is_read)
{
    static char body[1002];
    const char *text;

    memset(body, 'x', 1000);
    assert_in(kv_ask("PUT /kv/a", "", body), PUT_OK);
    body[1000] = 'x';
    text = kv_ask("PUT /kv/a", "", body);
    assert_in(text, "HTTP/1.1 413");
    assert_in(text, "\"limit\":1000");
    assert_null(exchange.sink);
}

TEST(a_chunked_value_is_cut_off_where_it_is_too_long)
{
    static char body[1002];

    memset(body, 'x', 1001);
    kv_begin("PUT /kv/a", "Transfer-Encoding: chunked\r\n",
             (struct bytes){body, 1000}, 7);
    assert_in(kv_finish(), PUT_OK);
    kv_begin("PUT /kv/a", "Transfer-Encoding: chunked\r\n",
             (struct bytes){body, 1001}, 7);
    assert_in(kv_finish(), "HTTP/1.1 413");
    assert_in(kv_ask("GET /kv/a", "", NULL), "Content-Length: 1000\r\n");
}

TEST(bodies_in_memory_are_limited_in_all)
{
    const char *text;

    kv_bodies.max = 10;
    assert_in(kv_ask("PUT /kv/a", "", "0123456789"), PUT_OK);
    text = kv_ask("PUT /kv/a", "", "0123456789a");
    assert_in(text, "HTTP/1.1 503");
    assert_in(text, "Retry-After: 1\r\n");
    kv_begin("PUT /kv/a", "Transfer-Encoding: chunked\r\n",
             BYTES("0123456789a"), 3);
    assert_in(kv_finish(), "HTTP/1.1 503");
    assert_in(kv_ask("PUT /kv/a", "", "9876543210"), "HTTP/1.1 204");
}

TEST(long_values_on_their_way_are_limited_in_all)
{
    static char value[40001];
    struct origin slow;
    const char *text;

    memset(value, 'x', sizeof(value) - 1);
    kv_options.value_bytes_max = kv_bodies.max = 40000;
    kv_values.max = 39999;
    kv_renew();
    assert_in(kv_ask("PUT /kv/a", "", value), PUT_OK);
    text = kv_ask("GET /kv/a", "", NULL);
    assert_in(text, "HTTP/1.1 503");
    assert_in(text, "Retry-After: 1\r\n");
    assert_in(kv_ask("HEAD /kv/a", "", NULL), "Content-Length: 40000\r\n");
    assert_in(kv_ask("GET /kv/a", "If-None-Match: \"1\"\r\n", NULL), " 304 ");
    kv_values.max = 40000;
    assert_in(kv_ask("PUT /kv/short", "", "x"), PUT_OK);
    kv_begin("GET /kv/a", "Range: bytes=0-0\r\n", (struct bytes){NULL, 0}, 0);
    slow = exchange.response.origin;
    exchange.response.origin = (struct origin){.object = NULL};
    assert_in(kv_finish(), "HTTP/1.1 206");
    assert_in(kv_ask("GET /kv/a", "", NULL), "HTTP/1.1 503");
    assert_in(kv_ask("GET /kv/short", "", NULL), "HTTP/1.1 200");
    slow.release(slow.object);
    for (unsigned i = 0; i < 3; i++)
        assert_in(kv_ask("GET /kv/a", "", NULL), "HTTP/1.1 200");
}

TEST(types_are_kept_as_they_came_or_refused)
{
    char fields[400];

    snprintf(fields, sizeof(fields), "Content-Type: %0255d\r\n", 0);
    assert_in(kv_ask("PUT /kv/a", fields, "x"), PUT_OK);
    snprintf(fields, sizeof(fields), "Content-Type: %0256d\r\n", 0);
    assert_in(kv_ask("PUT /kv/a", fields, "x"), "HTTP/1.1 415");
    assert_in(kv_ask("PUT /kv/a", "Content-Encoding: gzip\r\n", "x"),
              "Accept-Encoding: identity\r\n");
    assert_in(kv_ask("PUT /kv/a",
                     "Content-Encoding: identity\r\n"
                     "Content-Encoding: gzip\r\n",
                     "x"),
              "HTTP/1.1 415");
    assert_in(kv_ask("PUT /kv/a",
                     "Content-Type: text/plain\r\nContent-Type: text/html\r\n",
                     "x"),
              "HTTP/1.1 415");
    assert_in(kv_ask("PUT /kv/a", "Content-Range: bytes 0-0/5\r\n", "x"),
              "HTTP/1.1 400");
}

TEST(the_store_s_troubles_are_told)
{
    static const struct {
        enum kv_outcome outcome;
        const char *status;
    } cases[] = {{KV_FULL, "507"}, {KV_BUSY, "503"}, {KV_ERROR, "500"}};

    fake.is_failing = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char status[20];

        snprintf(status, sizeof(status), "HTTP/1.1 %s", cases[i].status);
        fake.outcome = cases[i].outcome;
        assert_in(kv_ask("PUT /kv/a", "", "x"), status);
        assert_in(kv_ask("GET /kv/a", "", NULL), status);
        assert_in(kv_ask("GET /kv/", "", NULL), status);
        assert_in(kv_ask("POST /kv/-/batch",
                         "Content-Type: application/x-ndjson\r\n",
                         "{\"op\":\"delete\",\"key\":\"a\"}\n"),
                  status);
    }
    fake.outcome = KV_BUSY;
    assert_in(kv_ask("PUT /kv/a", "", "x"), "Retry-After: 1\r\n");
}

TEST(each_place_says_what_is_allowed)
{
    static const struct {
        const char *path;
        const char *allow;
        const char *refused;
    } cases[] = {
        {"/kv/a", "Allow: GET, HEAD, PUT, POST, DELETE, OPTIONS\r\n", "PATCH"},
        {"/kv/", "Allow: GET, HEAD, POST, OPTIONS\r\n", "DELETE"},
        {"/kv", "Allow: GET, HEAD, POST, OPTIONS\r\n", "PUT"},
        {"/kv/-/batch", "Allow: POST, OPTIONS\r\n", "GET"},
    };
    char line[100];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *text;

        snprintf(line, sizeof(line), "OPTIONS %s", cases[i].path);
        text = kv_ask(line, "", NULL);
        assert_in(text, "HTTP/1.1 204");
        assert_in(text, cases[i].allow);
        snprintf(line, sizeof(line), "%s %s", cases[i].refused, cases[i].path);
        text = kv_ask(line, "", NULL);
        assert_in(text, "HTTP/1.1 405");
        assert_in(text, cases[i].allow);
        text = kv_ask(line, "", "with a body");
        if (strcmp(cases[i].refused, "GET") != 0)
            assert_in(text, "HTTP/1.1 405");
    }
}

TEST(keys_that_are_none_are_refused)
{
    assert_in(kv_ask("GET /kv/a%00", "", NULL), "HTTP/1.1 400");
    assert_in(kv_ask("PUT /kv/a%00b", "", "x"), "HTTP/1.1 400");
    assert_in(kv_ask("GET /%6bv/a", "", NULL), "HTTP/1.1 400");
}

TEST(who_may_not_write_may_read)
{
    struct kv_token_fault fault;
    struct kv_tokens *tokens;
    const char *text;

    kv_ask("PUT /kv/a", "", "x");
    kv_peer.octets[0] = 10;
    assert_in(kv_ask("PUT /kv/a", "", "x"), "HTTP/1.1 403");
    assert_in(kv_ask("GET /kv/a", "", NULL), "HTTP/1.1 200");
    assert_int_equal(kv_tokens_parse(&tokens, BYTES("0123456789abcdef a/\n"),
                                     &fault),
                     0);
    kv_options.access.tokens = tokens;
    kv_renew();
    text = kv_ask("PUT /kv/a/b", "", "x");
    assert_in(text, "HTTP/1.1 401");
    assert_in(text, "WWW-Authenticate: Bearer");
#define TOKEN "Authorization: Bearer 0123456789abcdef\r\n"
    assert_in(kv_ask("PUT /kv/a/b", TOKEN, "x"), PUT_OK);
    assert_in(kv_ask("PUT /kv/b", TOKEN, "x"), "HTTP/1.1 403");
    assert_in(kv_ask("DELETE /kv/b", TOKEN, NULL), "HTTP/1.1 403");
    assert_in(kv_ask("POST /kv/", TOKEN, "x"), "HTTP/1.1 403");
    assert_in(kv_ask("POST /kv/?prefix=a/", TOKEN, "x"), PUT_OK);
    text = kv_ask("POST /kv/-/batch",
                  TOKEN "Content-Type: application/x-ndjson\r\n",
                  "{\"op\":\"delete\",\"key\":\"a/b\"}\n"
                  "{\"op\":\"delete\",\"key\":\"b\"}\n");
    assert_in(text, "HTTP/1.1 403");
    assert_in(text, "\"line\":2");
    kv_options.access = (struct kv_access){.read_only = true};
    kv_renew();
    assert_in(kv_ask("PUT /kv/a/b", TOKEN, "x"), "HTTP/1.1 403");
    kv_tokens_release(&tokens);
}

TEST(who_may_write_can_change_between_requests)
{
    struct kv_token_fault fault;
    struct kv_tokens *first, *second;

    kv_peer.octets[0] = 10;
    assert_int_equal(kv_tokens_parse(&first, BYTES("0123456789abcdef a/\n"),
                                     &fault),
                     0);
    assert_int_equal(kv_tokens_parse(&second, BYTES("fedcba9876543210\n"),
                                     &fault),
                     0);
    kv_admit(kv, &(struct kv_access){.tokens = first});
    assert_in(kv_ask("PUT /kv/a/b", TOKEN, "x"), PUT_OK);
    kv_admit(kv, &(struct kv_access){.tokens = second});
    kv_tokens_release(&first);
    assert_in(kv_ask("PUT /kv/a/b", TOKEN, "x"), "HTTP/1.1 401");
    assert_in(kv_ask("PUT /kv/b", "Authorization: Bearer fedcba9876543210\r\n",
                     "x"),
              PUT_OK);
    kv_admit(kv, &(struct kv_access){.open_writes = true});
    kv_tokens_release(&second);
    assert_in(kv_ask("PUT /kv/c", "", "x"), PUT_OK);
}

/* --- Batches ------------------------------------------------------------- */

#define NDJSON "Content-Type: application/x-ndjson\r\n"

TEST(a_batch_is_done_as_a_whole)
{
    const char *text;

    kv_ask("PUT /kv/old", "", "x");
    text = kv_ask("POST /kv/-/batch", NDJSON,
                  "{\"op\":\"check\",\"key\":\"old\",\"if\":\"1\"}\n\n"
                  "{\"op\":\"put\",\"key\":\"new\",\"value\":\"v\"}\r\n"
                  "{\"op\":\"delete\",\"key\":\"old\"}\n"
                  "{\"op\":\"delete\",\"key\":\"none\"}");
    assert_in(text, "HTTP/1.1 200");
    assert_in(text, "Content-Type: application/x-ndjson\r\n");
    assert_string_equal(kv_unchunk(text),
                        "{\"line\":1,\"status\":200,\"etag\":\"\\\"1\\\"\"}\n"
                        "{\"line\":3,\"status\":201,\"etag\":\"\\\"2\\\"\"}\n"
                        "{\"line\":4,\"status\":204}\n"
                        "{\"line\":5,\"status\":404}\n");
    text = kv_ask("POST /kv/-/batch", NDJSON,
                  "\n{\"op\":\"check\",\"key\":\"new\",\"if\":\"absent\"}\n"
                  "{\"op\":\"delete\",\"key\":\"new\"}\n");
    assert_in(text, "HTTP/1.1 412");
    assert_in(text, "\"line\":2,\"etag\":\"\\\"2\\\"\"");
    assert_in(kv_ask("GET /kv/new", "", NULL), "HTTP/1.1 200");
}

TEST(a_batch_that_is_not_understood_is_refused)
{
    const char *text;

    assert_in(kv_ask("POST /kv/-/batch", "", "{}"), "HTTP/1.1 415");
    assert_in(kv_ask("POST /kv/-/batch", "Content-Type: text/plain\r\n", "{}"),
              "Accept-Post: application/x-ndjson\r\n");
    assert_in(kv_ask("POST /kv/-/batch",
                     "Content-Type: application/x-ndjson; charset=utf-8\r\n",
                     "{}"),
              "\"line\":1,\"member\":\"op\"");
    assert_in(kv_ask("POST /kv/-/batch", NDJSON, NULL), "HTTP/1.1 400");
    text = kv_ask("POST /kv/-/batch", NDJSON,
                  "{\"op\":\"put\",\"key\":\"a\",\"value\":\"v\"}\n"
                  "{\"op\":\"put\",\"key\":\"b\",\"valu\":\"v\"}\n");
    assert_in(text, "HTTP/1.1 400");
    assert_in(text, "\"line\":2,\"member\":\"valu\"");
    assert_in(kv_ask("GET /kv/a", "", NULL), "HTTP/1.1 404");
}

/* --- A store that takes its time ----------------------------------------- */

TEST(a_slow_store_is_waited_for)
{
    kv_ask("PUT /kv/a", "", "one");
    wakes = 0;
    fake.is_slow = true;
    kv_begin("GET /kv/a", "", (struct bytes){NULL, 0}, 0);
    assert_int_equal(exchange.response.status, 0);
    assert_int_equal(sent_step(&exchange, &now), SENT_LATER);
    assert_in(kv_finish(), "\r\n\r\none");
    assert_int_equal(wakes, 1);
    assert_in(kv_ask("GET /kv/b", "", NULL), "HTTP/1.1 404");
    assert_in(kv_unchunk(kv_ask("GET /kv/", "", NULL)), "\"key\":\"a\"");
}

TEST(what_is_asked_outlives_who_asked)
{
    fake.is_slow = true;
    kv_begin("PUT /kv/a", "", BYTES("one"), 1);
    leave();
    kv_begin("GET /kv/a", "", (struct bytes){NULL, 0}, 0);
    leave();
    kv_begin("GET /kv/", "", (struct bytes){NULL, 0}, 0);
    leave();
    wakes = 0;
    assert_int_equal(fake.waiting_count, 3);
    kv_answer();
    assert_int_equal(wakes, 0);
    assert_in(kv_ask("GET /kv/a", "", NULL), "\r\n\r\none");
    kv_begin("PUT /kv/a", "", BYTES("two"), 1);
    leave();
    kv_begin("GET /kv/a", "", (struct bytes){NULL, 0}, 0);
    /* It is never answered: kv_destroy() sees to it. */
}

SUITE(.each_begin = kv_set_up, .each_end = kv_tear_down);
