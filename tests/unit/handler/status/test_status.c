/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "handler/status/status.h"

#include "handler/status/status_page.h"
#include "unit/handler/status/status_fixture.h"

/* --- What there is ------------------------------------------------------- */

TEST(page_style_and_script_are_there)
{
    assert_int_equal(get("/"), 200);
    assert_field("\r\nContent-Type: " STATUS_PAGE_HTML_TYPE "\r\n");
    assert_field("\r\nContent-Security-Policy: " STATUS_PAGE_POLICY "\r\n");
    assert_field("\r\nCache-Control: no-cache\r\n");
    assert_length();
    assert_true(bytes_eq((struct bytes){answer.body, answer.len},
                         status_page_html()));
    assert_int_equal(get("/style.css"), 200);
    assert_field("\r\nContent-Type: " STATUS_PAGE_STYLE_TYPE "\r\n");
    assert_field("\r\nCache-Control: no-cache\r\n");
    assert_length();
    assert_int_equal(get("/script.js"), 200);
    assert_field("\r\nContent-Type: " STATUS_PAGE_SCRIPT_TYPE "\r\n");
    assert_length();
}

TEST(the_prefix_alone_leads_to_the_page)
{
    assert_int_equal(get(""), 301);
    assert_field("\r\nLocation: /_s/\r\n");
}

TEST(numbers_are_those_of_the_turn)
{
    assert_int_equal(get("/status.json"), 200);
    assert_field("\r\nContent-Type: application/json\r\n");
    assert_field("\r\nCache-Control: no-store\r\n");
    assert_length();
    assert_json(answer.body, answer.len);
    assert_non_null(strstr(answer.body, "\"requests\":{\"total\":0,"));
    assert_non_null(strstr(answer.body, "\"history\":"));
    assert_int_equal(get("/metrics"), 200);
    sample_note(&stats->workers[1], SAMPLE_MS);
    /* Many who ask at once cost no more than one. */
    assert_int_equal(get("/status.json"), 200);
    assert_non_null(strstr(answer.body, "\"requests\":{\"total\":0,"));
    assert_int_equal(get("/metrics"), 200);
    assert_non_null(strstr(answer.body, "{method=\"GET\"} 0\n"));
    status_turn(status);
    assert_int_equal(get("/status.json"), 200);
    assert_json(answer.body, answer.len);
    assert_non_null(strstr(answer.body, "\"requests\":{\"total\":1,"));
    assert_int_equal(get("/metrics"), 200);
    assert_non_null(strstr(answer.body, "{method=\"GET\"} 1\n"));
}

TEST(metrics_come_as_their_reader_wants_them)
{
    static const struct {
        const char *fields;
        bool is_open;
    } cases[] = {
        {"", false},
        {"Accept: */*\r\n", false},
        {"Accept: text/plain;version=0.0.4\r\n", false},
        {"Accept: application/openmetrics-tex\r\n", false},
        {"Accept: application/openmetrics-text\r\n", true},
        {"Accept: APPLICATION/OpenMetrics-Text;version=1.0.0;q=0.5,*/*\r\n",
         true},
        {"Accept: text/plain\r\nAccept: a/b, application/openmetrics-text\r\n",
         true},
        {"Accept: application/openmetrics-text;version=1.0.0;q=0.6,"
         "application/openmetrics-text;version=0.0.1;q=0.5,"
         "text/plain;version=0.0.4;q=0.3,*/*;q=0.2\r\n",
         true},
        {"Accept: application/openmetrics-text;q=0, */*\r\n", false},
        {"Accept: application/openmetrics-text;q=0.2, text/plain;q=0.3\r\n",
         false},
        {"Accept: x/application/openmetrics-text\r\n", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        bool has_end;

        assert_int_equal(ask_once("GET", "/metrics", cases[i].fields), 200);
        assert_length();
        has_end = strcmp(answer.body + answer.len - 6, "# EOF\n") == 0;
        if (has_end != cases[i].is_open ||
            has_field("\r\nContent-Type: application/openmetrics-text;") !=
                cases[i].is_open)
            fail_msg("%s", cases[i].fields);
    }
}

TEST(health_is_over_when_draining_begins)
{
    assert_int_equal(get("/health"), 200);
    assert_string_equal(answer.body, "ok\n");
    assert_field("\r\nContent-Type: text/plain; charset=utf-8\r\n");
    assert_field("\r\nCache-Control: no-store\r\n");
    status_drain(status);
    assert_int_equal(get("/health"), 503);
    assert_string_equal(answer.body, "draining\n");
    assert_length();
}

TEST(head_has_the_same_head_and_no_body)
{
    static const char *const rests[] = {
        "/", "/style.css", "/script.js", "/metrics", "/health", "/status.json"};

    for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
        char head[2000];

        get(rests[i]);
        snprintf(head, sizeof(head), "%.*s", (int)(answer.body - answer.text),
                 answer.text);
        assert_int_equal(ask_once("HEAD", rests[i], ""), 200);
        assert_string_equal(answer.text, head);
    }
    assert_int_equal(ask_once("HEAD", "/events", ""), 200);
    assert_field("\r\nContent-Type: text/event-stream\r\n");
    assert_int_equal(answer.len, 0);
    assert_false(status_tick(status)); /* nobody takes it */
}

TEST(other_paths_and_methods_are_refused)
{
    static const char *const rests[] = {
        "//",       "/x",           "/healthy", "/health/", "/status.json/",
        "/Metrics", "/style.css.gz"};
    static const char *const methods[] = {"POST",    "PUT",   "DELETE",
                                          "OPTIONS", "PATCH", "TRACE"};

    for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++)
        assert_int_equal(get(rests[i]), 404);
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        assert_int_equal(ask_once(methods[i], "/health", ""), 405);
        assert_field("\r\nAllow: GET, HEAD\r\n");
        assert_int_equal(ask_once(methods[i], "", ""), 405);
    }
}

TEST(without_memory_it_says_so)
{
    allocations_left = 0;
    assert_int_equal(get("/status.json"), 500);
    assert_int_equal(get("/metrics"), 500);
    assert_int_equal(get("/events"), 500);
    assert_int_equal(get("/health"), 200); /* needs none */
    allocations_left = -1;
    assert_int_equal(get("/status.json"), 200);
}

/* --- For whom ------------------------------------------------------------ */

TEST(only_this_machine_and_who_is_allowed_get_anything)
{
    static const struct {
        struct address peer;
        bool is_allowed;
    } cases[] = {
        {{.family = ADDRESS_UNIX}, true},
        {{.family = ADDRESS_IPV4, .octets = {127, 0, 0, 1}}, true},
        {{.family = ADDRESS_IPV4, .octets = {127, 255, 1, 2}}, true},
        {{.family = ADDRESS_IPV4, .octets = {128, 0, 0, 1}}, false},
        {{.family = ADDRESS_IPV4, .octets = {10, 0, 0, 1}}, false},
        {{.family = ADDRESS_IPV4, .octets = {192, 0, 2, 255}}, true},
        {{.family = ADDRESS_IPV4, .octets = {192, 0, 3, 0}}, false},
        {{.family = ADDRESS_IPV6, .octets = {[15] = 1}}, true},
        {{.family = ADDRESS_IPV6, .octets = {[15] = 2}}, false},
        {{.family = ADDRESS_IPV6, .octets = {127, 0, 0, 1}}, false},
        {{.family = ADDRESS_IPV6, .octets = {0x20, 1, 0xD, 0xB8, 1}}, true},
        {{.family = ADDRESS_IPV6, .octets = {0x20, 1, 0xD, 0xB9}}, false},
    };
    static const char *const rests[] = {"",         "/",         "/metrics",
                                        "/health",  "/events",   "/status.json",
                                        "/nowhere", "/script.js"};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        peer = cases[i].peer;
        if (get("/health") != (cases[i].is_allowed ? 200 : 403))
            fail_msg("case %zu: %u", i, answer.status);
    }
    peer = (struct address){.family = ADDRESS_IPV4, .octets = {8, 8, 8, 8}};
    for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
        assert_int_equal(get(rests[i]), 403);
        assert_int_equal(ask_once("POST", rests[i], ""), 403);
    }
}

TEST(it_answers_to_names_of_this_machine_only)
{
    static struct exchange exchange;
    static const struct {
        const char *host;
        bool is_ours;
    } cases[] = {
        {"h", true},
        {"H:8080", true},
        {"localhost", true},
        {"127.0.0.1:8080", true},
        {"evil.example", false},
        {"127.0.0.1.evil.example", false},
    };

    for (unsigned i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
        /* Those who are allowed may be misled, too. */
        peer = i % 2 ? (struct address){.family = ADDRESS_IPV4,
                                        .octets = {192, 0, 2, 1}}
                     : (struct address){.family = ADDRESS_UNIX};
        ask_at(&exchange, cases[i / 2].host, "GET", "/status.json", "");
        if (answer.status != (cases[i / 2].is_ours ? 200 : 403))
            fail_msg("%s: %u", cases[i / 2].host, answer.status);
        response_fini(&exchange.response);
    }
}

TEST(what_a_proxy_here_passes_on_is_not_of_here)
{
    assert_int_equal(ask_once("GET", "/metrics", "Via: 1.1 p\r\n"), 403);
    assert_int_equal(ask_once("GET", "/metrics", "Accept: */*\r\n"), 200);
    peer = (struct address){.family = ADDRESS_UNKNOWN};
    assert_int_equal(get("/metrics"), 403);
}

/* --- Its prefix ---------------------------------------------------------- */

TEST(a_prefix_is_read_without_its_last_slash)
{
    static const struct {
        const char *text;
        const char *prefix; /* NULL: it is none */
    } cases[] = {{"/_sprintd", "/_sprintd"},
                 {"/_sprintd/", "/_sprintd"},
                 {"/a/b.c/~d-E", "/a/b.c/~d-E"},
                 {"/.status", "/.status"},
                 {"/..a", "/..a"},
                 {"", NULL},
                 {"/", NULL},
                 {"//", NULL},
                 {"a", NULL},
                 {"a/b", NULL},
                 {"//a", NULL},
                 {"/a//", NULL},
                 {"/a//b", NULL},
                 {"/.", NULL},
                 {"/a/./b", NULL},
                 {"/a/..", NULL},
                 {"/../", NULL},
                 {"/a b", NULL},
                 {"/a%20", NULL},
                 {"/a?b", NULL},
                 {"/a#", NULL},
                 {"/a:b", NULL},
                 {"/\xC3\xA4", NULL},
                 {"/a\r\n", NULL}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes prefix;
        bool is_one = status_read_prefix(cases[i].text, &prefix);

        if (is_one != (cases[i].prefix != NULL))
            fail_msg("'%s'", cases[i].text);
        if (is_one)
            assert_true(bytes_eq(prefix, bytes_of(cases[i].prefix)));
    }
}

SUITE(.each_begin = set_up, .each_end = tear_down);
