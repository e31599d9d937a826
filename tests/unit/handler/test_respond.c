#include "handler/respond.h"

#include "unit/handler/asked.h"

static struct respond_options options;

static int set_up(void **state)
{
    options = (struct respond_options){
        .status = 200, .text = BYTES("hello"), .defaults = defaults};
    return begin_asking(state);
}

static void get_if(const char *line, const char *fields)
{
    struct respond *respond;
    struct handler handler;

    assert_null(respond_check(&options));
    respond = respond_create(&options);
    assert_non_null(respond);
    handler = respond_handler(respond);
    ask(line, fields);
    handler.answer(handler.self, &exchange, BYTES(""));
    respond_destroy(respond);
}

static void get(const char *line)
{
    get_if(line, "");
}

TEST(everybody_gets_the_text)
{
    get("GET /any/path");
    assert_string_equal(answer_text(),
                        "HTTP/1.1 200 OK\r\n" BEGIN
                        "Content-Type: text/plain; charset=utf-8\r\n"
                        "Content-Length: 5\r\n\r\nhello");
    assert_int_equal(exchange.response.body_bytes, 5);
    assert_false(exchange.response.is_error);
    get("DELETE /any/path");
    assert_has("\r\n\r\nhello");
}

/* Behind a 2xx to CONNECT the client sends what is for somebody else, and a 2xx
 * to TRACE contains what was asked. */
TEST(what_would_be_taken_for_something_else_is_405)
{
    static const char *const lines[] = {"CONNECT h:443", "TRACE /any/path"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        options.status = 200;
        get(lines[i]);
        assert_has("HTTP/1.1 405 Method Not Allowed\r\n");
        assert_has("\r\nAllow: GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH"
                   "\r\n");
        assert_has_not("hello");
        options.status = 403;
        get(lines[i]);
        assert_has("HTTP/1.1 403 Forbidden\r\n");
        assert_has("\r\n\r\nhello");
    }
}

TEST(where_no_method_is_allowed_the_answer_says_so)
{
    options.status = 405;
    get("GET /");
    assert_has("\r\nAllow: \r\n");
    options.status = 404;
    get("GET /");
    assert_has_not("Allow");
}

TEST(head_gets_the_length_and_no_body)
{
    options.type = BYTES("application/json");
    get("HEAD /");
    assert_string_equal(answer_text(), "HTTP/1.1 200 OK\r\n" BEGIN
                                       "Content-Type: application/json\r\n"
                                       "Content-Length: 5\r\n\r\n");
    assert_int_equal(exchange.response.body_bytes, 0);
}

/* The text has no ETag and no date: only "*" fits it. */
TEST(conditions_count_where_the_answer_is_a_success)
{
    static const struct {
        const char *line;
        const char *fields;
        unsigned status, expected;
    } cases[] = {
        {"GET /", "If-Match: \"a\"\r\n", 200, 412},
        {"HEAD /", "If-Match: \"a\"\r\n", 200, 412},
        {"GET /", "If-Match: *\r\n", 200, 200},
        {"GET /", "If-None-Match: *\r\n", 200, 304},
        {"GET /", "If-None-Match: \"a\"\r\n", 200, 200},
        {"POST /", "If-None-Match: *\r\n", 200, 412},
        {"DELETE /", "If-Match: \"a\"\r\n", 204, 412},
        {"GET /", "If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT\r\n", 200,
         200},
        {"GET /", "If-Unmodified-Since: Sun, 06 Nov 1984 08:49:37 GMT\r\n", 200,
         200},
        {"GET /", "If-Match: \"a\"\r\n", 404, 404},
        {"OPTIONS /", "If-Match: \"a\"\r\n", 200, 200},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        options.status = cases[i].status;
        options.text = cases[i].status == 204 ? BYTES("") : BYTES("hello");
        get_if(cases[i].line, cases[i].fields);
        if (exchange.response.status != cases[i].expected)
            fail_msg("%s %s%u", cases[i].line, cases[i].fields,
                     exchange.response.status);
    }
}

TEST(an_empty_text_has_a_length_too)
{
    options.status = 410;
    options.text = BYTES("");
    get("GET /");
    assert_has("HTTP/1.1 410 Gone\r\n");
    assert_has("\r\nContent-Length: 0\r\n\r\n");
}

TEST(some_statuses_have_neither_body_nor_length)
{
    options.text = BYTES("");
    options.status = 204;
    get("GET /");
    assert_string_equal(answer_text(),
                        "HTTP/1.1 204 No Content\r\n" BEGIN "\r\n");
    options.status = 304;
    get("GET /");
    assert_string_equal(answer_text(),
                        "HTTP/1.1 304 Not Modified\r\n" BEGIN "\r\n");
}

TEST(what_could_not_be_sent_is_refused)
{
    static const unsigned faulty[] = {0,   100, 101, 199, 205, 206,
                                      301, 302, 303, 307, 308, 401,
                                      407, 416, 426, 600, 999};
    static const unsigned good[] = {200, 201, 299, 400, 403, 404,
                                    410, 451, 429, 500, 503, 599};
    static char text[RESPOND_TEXT_MAX + 1];
    static char type[202];

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++) {
        options.status = faulty[i];
        if (!respond_check(&options))
            fail_msg("%u is taken", faulty[i]);
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        options.status = good[i];
        assert_null(respond_check(&options));
    }
    options.status = 204;
    assert_non_null(respond_check(&options));
    options.status = 304;
    assert_non_null(respond_check(&options));
    options.status = 200;
    options.text = (struct bytes){text, RESPOND_TEXT_MAX};
    assert_null(respond_check(&options));
    options.text.len++;
    assert_non_null(respond_check(&options));
    options.text.len = 0;
    options.type = BYTES("a/b\r\nEvil: c");
    assert_non_null(respond_check(&options));
    memset(type, 't', 201);
    options.type = bytes_of(type);
    assert_non_null(respond_check(&options));
    type[200] = '\0';
    options.type = bytes_of(type);
    assert_null(respond_check(&options));
}

TEST(the_longest_text_is_sent_whole)
{
    static char text[RESPOND_TEXT_MAX + 1];

    memset(text, 't', RESPOND_TEXT_MAX);
    options.text = bytes_of(text);
    get("GET /");
    assert_has("\r\nContent-Length: 65536\r\n");
    assert_int_equal(exchange.response.bytes_left,
                     exchange.response.head_bytes + RESPOND_TEXT_MAX);
}

SUITE(.each_begin = set_up, .each_end = end_asking);
