/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc */
#include "handler/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../observe/json.h"
#include "../observe/sample_stats.h"
#include "handler/status_page.h"
#include "http/http1.h"

/* --- Memory that runs out ---------------------------------------------------- */

static bool has_memory = true;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return has_memory ? __real_malloc(bytes) : NULL;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return has_memory ? __real_calloc(count, bytes) : NULL;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return has_memory ? __real_realloc(old, bytes) : NULL;
}

/* --- A status of two workers' statistics --------------------------------------- */

enum { ANSWER_MAX = 200000 };

static struct now now;
static struct stats_shared *stats;
static struct history *history;
static struct cidr allowed[2];
static const struct cidrs allowed_list = {allowed, 2};
static struct status *status;
static struct address peer;

static int set_up(void **state)
{
    struct stats_options options = sample_options(2);
    struct status_options status_options = {.allowed = &allowed_list,
                                            .style = {.now = &now}};

    (void)state;
    now = sample_now;
    peer = (struct address){.family = ADDRESS_UNIX};
    stats = stats_shared_create(&options, &sample_began);
    history = history_create();
    if (!stats || !history || !cidr_parse(&allowed[0], "192.0.2.0/24") ||
        !cidr_parse(&allowed[1], "2001:db8::/32"))
        return -1;
    status_options.stats = stats;
    status_options.history = history;
    status = status_create(&status_options);
    return status ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    status_destroy(status);
    history_destroy(history);
    stats_shared_destroy(stats);
    return 0;
}

/* --- Asking ---------------------------------------------------------------------- */

struct answer {
    unsigned status;
    bool persists;
    size_t len; /* of the body */
    const char *body;
    char text[ANSWER_MAX];
};

static struct answer answer;

/* Appends what the parts hold. */
static void collect(struct response *response)
{
    size_t len = (size_t)(answer.body - answer.text) + answer.len;

    for (unsigned i = response->part_at; i < response->part_count; i++) {
        const struct part *part = &response->parts[i];

        assert_int_equal(part->kind, PART_MEMORY);
        assert_in_range(part->len, 1, ANSWER_MAX - len - 1);
        memcpy(answer.text + len, part->at.memory, part->len);
        len += part->len;
    }
    answer.text[len] = '\0';
    answer.body = answer.text + response->head_bytes;
    answer.len = len - response->head_bytes;
    response_advance(response, response->bytes_left);
}

/* rest is what the router leaves of the path. */
static void ask(struct exchange *exchange, const char *method, const char *rest,
                const char *fields)
{
    static char request[4000];
    static char clean[HTTP1_LINE_BYTES_MAX];
    struct handler handler = status_handler(status);
    struct http1_progress progress = {0};
    size_t used;
    unsigned code;

    snprintf(request, sizeof(request), "%s /_s%s HTTP/1.1\r\nHost: h\r\n%s\r\n",
             method, rest, fields);
    assert_int_equal(http1_parse(&progress, request, strlen(request),
                                 &exchange->request, &used, &code),
                     HTTP1_DONE);
    exchange->peer = &peer;
    response_init(&exchange->response);
    exchange->response.persists = true;
    exchange->response.is_head = strcmp(method, "HEAD") == 0;
    assert_true(path_clean(exchange->request.path, clean, &exchange->path));
    handler.answer(handler.self, exchange, bytes_of(rest));
    answer.body = answer.text;
    answer.len = 0;
    collect(&exchange->response);
    answer.status = exchange->response.status;
    answer.persists = exchange->response.persists;
}

/* The whole of an answer that is no stream. */
static unsigned ask_once(const char *method, const char *rest,
                         const char *fields)
{
    static struct exchange exchange;

    ask(&exchange, method, rest, fields);
    assert_null(exchange.response.stream);
    response_fini(&exchange.response);
    return answer.status;
}

static unsigned get(const char *rest)
{
    return ask_once("GET", rest, "");
}

static bool has_field(const char *line)
{
    const char *at = strstr(answer.text, line);

    return at && at < answer.body;
}

static void assert_field(const char *line)
{
    if (!has_field(line))
        fail_msg("no %s in: %s", line, answer.text);
}

static void assert_length(void)
{
    char line[50];

    snprintf(line, sizeof(line), "\r\nContent-Length: %zu\r\n", answer.len);
    assert_field(line);
}

static void assert_json(const char *text, size_t len)
{
    struct bytes json = {text, len};

    if (!json_is_valid(json))
        fail_msg("no JSON: %.*s", (int)len, text);
}

/* --- What there is ------------------------------------------------------------------ */

static void page_style_and_script_are_there(void **state)
{
    (void)state;
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

static void the_prefix_alone_leads_to_the_page(void **state)
{
    (void)state;
    assert_int_equal(get(""), 301);
    assert_field("\r\nLocation: /_s/\r\n");
}

static void numbers_are_those_of_the_turn(void **state)
{
    (void)state;
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

static void metrics_come_as_their_reader_wants_them(void **state)
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

    (void)state;
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

static void health_is_over_when_draining_begins(void **state)
{
    (void)state;
    assert_int_equal(get("/health"), 200);
    assert_string_equal(answer.body, "ok\n");
    assert_field("\r\nContent-Type: text/plain; charset=utf-8\r\n");
    assert_field("\r\nCache-Control: no-store\r\n");
    status_drain(status);
    assert_int_equal(get("/health"), 503);
    assert_string_equal(answer.body, "draining\n");
    assert_length();
}

static void head_has_the_same_head_and_no_body(void **state)
{
    static const char *const rests[] = {
        "/", "/style.css", "/script.js", "/metrics", "/health", "/status.json"};

    (void)state;
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

static void other_paths_and_methods_are_refused(void **state)
{
    static const char *const rests[] = {
        "//",       "/x",           "/healthy", "/health/", "/status.json/",
        "/Metrics", "/style.css.gz"};
    static const char *const methods[] = {"POST",    "PUT",   "DELETE",
                                          "OPTIONS", "PATCH", "TRACE"};

    (void)state;
    for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++)
        assert_int_equal(get(rests[i]), 404);
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
        assert_int_equal(ask_once(methods[i], "/health", ""), 405);
        assert_field("\r\nAllow: GET, HEAD\r\n");
        assert_int_equal(ask_once(methods[i], "", ""), 405);
    }
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    has_memory = false;
    assert_int_equal(get("/status.json"), 500);
    assert_int_equal(get("/metrics"), 500);
    assert_int_equal(get("/events"), 500);
    assert_int_equal(get("/health"), 200); /* needs none */
    has_memory = true;
    assert_int_equal(get("/status.json"), 200);
}

/* --- For whom --------------------------------------------------------------------------- */

static void only_this_machine_and_who_is_allowed_get_anything(void **state)
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

    (void)state;
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

/* --- Events --------------------------------------------------------------------------------- */

/* Takes pieces until there are no more for now, or the stream ends. */
static void take(struct exchange *exchange)
{
    struct response *response = &exchange->response;

    response->is_chunked = false; /* so that they come as they are */
    answer.body = answer.text + response->head_bytes;
    answer.len = 0;
    do {
        assert_true(response_refill(response));
        collect(response);
    } while (response->stream && !response->is_waiting);
}

static void begin_events(struct exchange *exchange)
{
    ask(exchange, "GET", "/events", "");
    assert_int_equal(answer.status, 200);
    assert_non_null(exchange->response.stream);
    assert_field("\r\nContent-Type: text/event-stream\r\n");
    assert_field("\r\nCache-Control: no-store\r\n");
    assert_field("\r\nTransfer-Encoding: chunked\r\n");
    take(exchange);
    assert_string_equal(answer.body, "retry: 1000\n\n");
}

/* One tick, whole, is what was taken. */
static void assert_tick(void)
{
    static const char before[] = "event: tick\ndata: ";
    size_t begin = sizeof(before) - 1;

    assert_in_range(answer.len, begin + 3, ANSWER_MAX);
    assert_memory_equal(answer.body, before, begin);
    assert_string_equal(answer.body + answer.len - 2, "\n\n");
    assert_json(answer.body + begin, answer.len - begin - 2);
    assert_null(memchr(answer.body + begin, '\n', answer.len - begin - 2));
    assert_non_null(strstr(answer.body, "\"point\":"));
}

static void each_second_has_a_tick_for_each_stream(void **state)
{
    static struct exchange first, second;

    (void)state;
    begin_events(&first);
    begin_events(&second);
    for (int i = 0; i < 3; i++) {
        assert_true(status_tick(status));
        take(&first);
        assert_tick();
        take(&second);
        assert_tick();
        take(&second);
        assert_int_equal(answer.len, 0); /* not twice */
    }
    response_fini(&first.response);
    response_fini(&second.response);
    assert_false(status_tick(status));
}

static void who_comes_later_begins_with_the_next_tick(void **state)
{
    static struct exchange first, second;

    (void)state;
    begin_events(&first);
    assert_true(status_tick(status));
    begin_events(&second);
    take(&second);
    assert_int_equal(answer.len, 0);
    assert_true(status_tick(status));
    take(&second);
    assert_tick();
    response_fini(&second.response);
    response_fini(&first.response);
}

static void who_is_too_slow_misses_a_tick_and_never_half_of_one(void **state)
{
    static struct exchange slow;
    const char *newer;

    (void)state;
    begin_events(&slow);
    assert_true(status_tick(status));
    sample_note(&stats->workers[0], SAMPLE_MS);
    assert_true(status_tick(status));
    take(&slow);
    assert_tick();
    newer = strstr(answer.body, "\"requests\":{\"total\":1,");
    assert_non_null(newer);
    response_fini(&slow.response);
}

/* As a worker of a machine with hundreds of cores would have it. */
static void a_tick_may_be_longer_than_a_piece(void **state)
{
    static struct exchange exchange;
    struct stats_options many = sample_options(400);
    struct stats_shared *others = stats_shared_create(&many, &sample_began);
    struct status_options options = {.allowed = &allowed_list,
                                     .stats = others,
                                     .history = history,
                                     .style = {.now = &now}};

    (void)state;
    assert_non_null(others);
    status_destroy(status);
    status = status_create(&options);
    assert_non_null(status);
    begin_events(&exchange);
    assert_true(status_tick(status));
    assert_true(response_refill(&exchange.response));
    answer.body = answer.text + exchange.response.head_bytes;
    answer.len = 0;
    collect(&exchange.response);
    assert_int_equal(answer.len, RESPONSE_STREAM_BYTES);
    /* What it is in the middle of stays as it is when the next one comes. */
    sample_note(&others->workers[0], SAMPLE_MS);
    assert_true(status_tick(status));
    do {
        assert_true(response_refill(&exchange.response));
        collect(&exchange.response);
    } while (answer.body[answer.len - 1] != '\n');
    assert_tick();
    assert_null(strstr(answer.body, "\"requests\":{\"total\":1,"));
    take(&exchange);
    assert_tick();
    assert_non_null(strstr(answer.body, "\"requests\":{\"total\":1,"));
    response_fini(&exchange.response);
    status_destroy(status);
    status = NULL;
    stats_shared_destroy(others);
}

static void without_memory_for_a_tick_there_is_a_heartbeat(void **state)
{
    static struct exchange exchange;

    (void)state;
    begin_events(&exchange);
    has_memory = false;
    assert_true(status_tick(status));
    has_memory = true;
    take(&exchange);
    assert_string_equal(answer.body, ":\n\n");
    assert_true(status_tick(status));
    take(&exchange);
    assert_tick();
    response_fini(&exchange.response);
}

static void streams_end_when_draining_begins(void **state)
{
    static struct exchange exchange;

    (void)state;
    begin_events(&exchange);
    status_drain(status);
    take(&exchange);
    assert_int_equal(answer.len, 0);
    assert_null(exchange.response.stream);
    response_fini(&exchange.response);
    assert_int_equal(get("/events"), 503);
}

static void more_streams_than_allowed_are_told_to_come_later(void **state)
{
    static struct exchange exchanges[STATUS_STREAMS_MAX];

    (void)state;
    for (size_t i = 0; i < STATUS_STREAMS_MAX; i++)
        begin_events(&exchanges[i]);
    assert_int_equal(get("/events"), 503);
    assert_field("\r\nRetry-After: 10\r\n");
    assert_int_equal(get("/status.json"), 200);
    response_fini(&exchanges[7].response);
    begin_events(&exchanges[7]);
    assert_int_equal(get("/events"), 503);
    for (size_t i = 0; i < STATUS_STREAMS_MAX; i++)
        response_fini(&exchanges[i].response);
}

/* --- Its prefix ------------------------------------------------------------------------------- */

static void a_prefix_is_read_without_its_last_slash(void **state)
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

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes prefix;
        bool is_one = status_read_prefix(cases[i].text, &prefix);

        if (is_one != (cases[i].prefix != NULL))
            fail_msg("'%s'", cases[i].text);
        if (is_one)
            assert_true(bytes_eq(prefix, bytes_of(cases[i].prefix)));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(page_style_and_script_are_there),
        TEST(the_prefix_alone_leads_to_the_page),
        TEST(numbers_are_those_of_the_turn),
        TEST(metrics_come_as_their_reader_wants_them),
        TEST(health_is_over_when_draining_begins),
        TEST(head_has_the_same_head_and_no_body),
        TEST(other_paths_and_methods_are_refused),
        TEST(without_memory_it_says_so),
        TEST(only_this_machine_and_who_is_allowed_get_anything),
        TEST(each_second_has_a_tick_for_each_stream),
        TEST(who_comes_later_begins_with_the_next_tick),
        TEST(who_is_too_slow_misses_a_tick_and_never_half_of_one),
        TEST(a_tick_may_be_longer_than_a_piece),
        TEST(without_memory_for_a_tick_there_is_a_heartbeat),
        TEST(streams_end_when_draining_begins),
        TEST(more_streams_than_allowed_are_told_to_come_later),
        TEST(a_prefix_is_read_without_its_last_slash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
