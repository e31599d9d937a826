#include "handler/cors.h"

#include "unit/handler/asked.h"

#define ALLOWED "Access-Control-Allow-Origin: "
#define PREFLIGHT_VARY                              \
    "Vary: Origin, Access-Control-Request-Method, " \
    "Access-Control-Request-Headers\r\n"

static struct cors cors;

static int set_up(void **state)
{
    cors = (struct cors){0};
    return begin_asking(state);
}

static void add_origin(const char *origin)
{
    const char *fault = cors_add_origin(&cors, bytes_of(origin));

    if (fault)
        fail_msg("'%s' %s", origin, fault);
}

/* What an answer to a GET with those fields gets besides. */
static void describe(const char *fields)
{
    ask("GET /", fields);
    assert_false(cors_answer_preflight(&cors, &exchange, &defaults));
    cors_describe(&cors, &exchange.request, &exchange.response);
    assert_int_equal(exchange.response.own_fields, RESPONSE_OWN_CORS);
    response_begin(&exchange.response, 200, &defaults);
    response_add_head(&exchange.response);
}

static void assert_describes(const char *fields, const char *expected)
{
    char text[1000];

    describe(fields);
    snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\n" BEGIN "%s\r\n",
             expected);
    assert_string_equal(answer_text(), text);
}

static bool allows(const char *origin)
{
    char fields[2000];
    char allowed[2000];

    snprintf(fields, sizeof(fields), "Origin: %s\r\n", origin);
    snprintf(allowed, sizeof(allowed), "\r\n" ALLOWED "%s\r\n", origin);
    describe(fields);
    assert_has("\r\nVary: Origin\r\n");
    if (has(ALLOWED))
        assert_has(allowed);
    return has(ALLOWED);
}

TEST(an_origin_that_is_allowed_is_named)
{
    add_origin("https://a.example");
    add_origin("http://b.example:8080");
    add_origin("http://[::1]:3000");
    assert_null(cors_finish(&cors));
    assert_describes("Origin: https://a.example\r\n",
                     ALLOWED "https://a.example\r\nVary: Origin\r\n");
    assert_true(allows("http://b.example:8080"));
    assert_true(allows("http://[::1]:3000"));
}

TEST(without_leave_caches_are_told_all_the_same)
{
    add_origin("https://a.example");
    assert_null(cors_finish(&cors));
    assert_describes("", "Vary: Origin\r\n");
    assert_describes("Origin: https://b.example\r\n", "Vary: Origin\r\n");
    assert_describes("Origin: null\r\n", "Vary: Origin\r\n");
    assert_describes("Origin:\r\n", "Vary: Origin\r\n");
    assert_describes("Origin: https://a.example\r\n"
                     "Origin: https://a.example\r\n",
                     "Vary: Origin\r\n");
}

TEST(no_other_origin_looks_like_one_that_is_allowed)
{
    static const char *const others[] = {"http://a.example",
                                         "https://a.example:8443",
                                         "https://a.example/",
                                         "https://a.example.evil.example",
                                         "https://evila.example",
                                         "https://A.example",
                                         "https://a.exampl",
                                         "https://a.example, https://b.example",
                                         "https://a.example https://b.example"};

    add_origin("https://a.example");
    assert_null(cors_finish(&cors));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (allows(others[i]))
            fail_msg("'%s' is allowed", others[i]);
}

TEST(a_star_stands_for_any_hosts_below_a_name)
{
    static const char *const good[] = {"https://a.example.org",
                                       "https://a-1.b_2.c.example.org"};
    static const char *const others[] = {
        "https://example.org",       "https://.example.org",
        "https://..example.org",     "https://aexample.org",
        "http://a.example.org",      "https://a.example.org:444",
        "https://evil/.example.org", "https://x@a.example.org",
        "https://a:1.example.org",   "https://a.example.org.evil",
        "https://A.example.org",     "https://evil?.example.org",
        "https://\xC3.example.org",  "https://*.example.org"};
    char longest[1900];

    add_origin("https://*.example.org");
    assert_null(cors_finish(&cors));
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
        if (!allows(good[i]))
            fail_msg("'%s' is not allowed", good[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (allows(others[i]))
            fail_msg("'%s' is allowed", others[i]);
    snprintf(longest, sizeof(longest), "https://%01800d.example.org", 0);
    assert_true(allows(longest));
    add_origin("http://*.dev.example:8080");
    assert_true(allows("http://x.dev.example:8080"));
    assert_false(allows("http://x.dev.example"));
}

TEST(any_origin_needs_no_telling_apart)
{
    add_origin("*");
    assert_null(cors_finish(&cors));
    assert_describes("", ALLOWED "*\r\n");
    assert_describes("Origin: null\r\n", ALLOWED "*\r\n");
}

TEST(credentials_and_exposed_fields_are_told)
{
    add_origin("https://a.example");
    cors.allows_credentials = true;
    assert_null(cors_add_exposed(&cors, BYTES("ETag")));
    assert_null(cors_add_exposed(&cors, BYTES("X-Total")));
    assert_null(cors_finish(&cors));
    assert_describes("Origin: https://a.example\r\n", ALLOWED
                     "https://a.example\r\nVary: Origin\r\n"
                     "Access-Control-Allow-Credentials: true\r\n"
                     "Access-Control-Expose-Headers: ETag, X-Total\r\n");
}

TEST(errors_may_be_read_like_any_other_answer)
{
    add_origin("https://a.example");
    assert_null(cors_finish(&cors));
    ask("GET /", "Origin: https://a.example\r\n");
    cors_describe(&cors, &exchange.request, &exchange.response);
    response_make_error(&exchange.response, 404, BYTES(""), &defaults);
    assert_has("HTTP/1.1 404 Not Found\r\n");
    assert_has("\r\n" ALLOWED "https://a.example\r\nVary: Origin\r\n");
}

static void ask_first(const char *origin)
{
    char fields[500];

    snprintf(fields, sizeof(fields), "%saccess-control-request-method: PUT\r\n",
             origin);
    ask("OPTIONS /x", fields);
    assert_true(cors_answer_preflight(&cors, &exchange, &defaults));
    assert_int_equal(exchange.response.status, 204);
}

TEST(a_preflight_is_told_what_is_allowed)
{
    add_origin("https://a.example");
    assert_null(cors_add_method(&cors, BYTES("PUT")));
    assert_null(cors_add_method(&cors, BYTES("DELETE")));
    assert_null(cors_add_field(&cors, BYTES("Content-Type")));
    cors.max_age_s = 600;
    cors.allows_credentials = true;
    assert_null(cors_finish(&cors));
    ask_first("Origin: https://a.example\r\n");
    assert_string_equal(
        answer_text(),
        "HTTP/1.1 204 No Content\r\n" BEGIN PREFLIGHT_VARY ALLOWED
        "https://a.example\r\nAccess-Control-Allow-Credentials: true\r\n"
        "Access-Control-Allow-Methods: PUT, DELETE\r\n"
        "Access-Control-Allow-Headers: Content-Type\r\n"
        "Access-Control-Max-Age: 600\r\n\r\n");
}

TEST(a_preflight_without_leave_finds_none)
{
    add_origin("https://a.example");
    assert_null(cors_finish(&cors));
    ask_first("Origin: https://b.example\r\n");
    assert_string_equal(answer_text(),
                        "HTTP/1.1 204 No Content\r\n" BEGIN PREFLIGHT_VARY
                        "\r\n");
}

TEST(without_methods_the_simple_ones_are_allowed)
{
    add_origin("*");
    assert_null(cors_finish(&cors));
    ask_first("Origin: https://b.example\r\n");
    assert_string_equal(answer_text(),
                        "HTTP/1.1 204 No Content\r\n" BEGIN PREFLIGHT_VARY
                            ALLOWED "*\r\nAccess-Control-Allow-Methods: "
                        "GET, HEAD, POST\r\n\r\n");
}

TEST(other_requests_are_no_preflights)
{
    static const char *const others[][2] = {
        {"OPTIONS /", ""},
        {"OPTIONS /", "Origin: https://a.example\r\n"},
        {"OPTIONS /", "Access-Control-Request-Method: PUT\r\n"},
        {"GET /", "Origin: https://a.example\r\n"
                  "Access-Control-Request-Method: PUT\r\n"},
    };

    add_origin("*");
    assert_null(cors_finish(&cors));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        ask(others[i][0], others[i][1]);
        assert_false(cors_answer_preflight(&cors, &exchange, &defaults));
        assert_int_equal(exchange.response.status, 0);
    }
}

TEST(what_no_browser_sends_is_no_origin)
{
    static const char *const faulty[] = {"",
                                         "null",
                                         "a.example",
                                         "https://",
                                         "https://a.example/",
                                         "https://a.example/x",
                                         "HTTPS://a.example",
                                         "https://A.example",
                                         "https://a.example:443",
                                         "http://a.example:80",
                                         "https://a.example:",
                                         "https://a.example:0",
                                         "https://a.example:65536",
                                         "https://a.example:08",
                                         "https://a.example:1x",
                                         "https://u@a.example",
                                         "https://a.*.example",
                                         "https://*",
                                         "https://*.",
                                         "https://*..a",
                                         "https://*a.example",
                                         "https://a.example\r\nEvil: x",
                                         "https://[::1",
                                         "https://[]",
                                         "https://[::1]x",
                                         "ftp://a.example",
                                         "https://\xC3\xA9.example",
                                         "**"};
    char text[CORS_ORIGIN_BYTES_MAX + 2];

    for (size_t i = 0; i < sizeof(faulty) / sizeof(*faulty); i++)
        if (!cors_add_origin(&cors, bytes_of(faulty[i])))
            fail_msg("'%s' is an origin", faulty[i]);
    snprintf(text, sizeof(text), "https://%0*d", CORS_ORIGIN_BYTES_MAX - 8, 0);
    add_origin(text);
    snprintf(text, sizeof(text), "https://%0*d", CORS_ORIGIN_BYTES_MAX - 7, 0);
    assert_non_null(cors_add_origin(&cors, bytes_of(text)));
    while (cors.origin_count < CORS_ORIGINS_MAX)
        add_origin("https://a.example");
    assert_non_null(cors_add_origin(&cors, BYTES("https://a.example")));
}

TEST(names_are_tokens_and_not_too_many)
{
    assert_non_null(cors_add_method(&cors, BYTES("")));
    assert_non_null(cors_add_method(&cors, BYTES("GET, PUT")));
    assert_non_null(cors_add_field(&cors, BYTES("A\r\nB")));
    assert_non_null(cors_add_exposed(&cors, BYTES("A: b")));
    for (int i = 0; i < CORS_NAMES_MAX; i++)
        assert_null(cors_add_field(&cors, BYTES("A")));
    assert_non_null(cors_add_field(&cors, BYTES("A")));
}

TEST(a_star_and_credentials_are_refused_together)
{
    assert_non_null(cors_finish(&cors)); /* nobody is allowed at all */
    add_origin("https://a.example");
    cors.allows_credentials = true;
    assert_null(cors_finish(&cors));
    assert_null(cors_add_field(&cors, BYTES("*")));
    assert_non_null(cors_finish(&cors));
    cors.fields.count = 0;
    assert_null(cors_add_method(&cors, BYTES("*")));
    assert_non_null(cors_finish(&cors));
    cors.methods.count = 0;
    assert_null(cors_add_exposed(&cors, BYTES("*")));
    assert_non_null(cors_finish(&cors));
    cors.exposed.count = 0;
    add_origin("*");
    assert_non_null(cors_finish(&cors));
    cors.allows_credentials = false;
    assert_null(cors_finish(&cors));
    cors.max_age_s = CORS_AGE_MAX_S;
    assert_null(cors_finish(&cors));
    cors.max_age_s++;
    assert_non_null(cors_finish(&cors));
}

SUITE(.each_begin = set_up, .each_end = end_asking);
