#include "unit/handler/status/status_fixture.h"

#include <stdio.h>

#include "handler/status/status.h"
#include "http/http1/http1.h"

/* --- A status of two workers' statistics --------------------------------- */

struct now now;
struct stats_shared *stats;
struct history *history;
static struct cidr allowed[2];
const struct cidrs allowed_list = {allowed, 2};
static struct host known_hosts[] = {{{"h", 1}, known_hosts}};
const struct hosts known = {known_hosts, 1};
struct status *status;
struct address peer;

int set_up(void **state)
{
    struct stats_options options = sample_options(2);
    struct status_options status_options = {.audience = {&allowed_list, &known},
                                            .defaults = {.now = &now}};

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

int tear_down(void **state)
{
    (void)state;
    status_destroy(status);
    history_destroy(history);
    stats_shared_destroy(stats);
    return 0;
}

/* --- Asking -------------------------------------------------------------- */

struct whole_answer answer;

void ask_at(struct exchange *exchange, const char *host, const char *method,
            const char *rest, const char *fields)
{
    static char request[4000];
    static char clean[HTTP1_LINE_BYTES_MAX];
    struct handler handler = status_handler(status);
    struct http1_progress progress = {0};
    size_t used;
    enum reason reason;

    snprintf(request, sizeof(request),
             "%s /_s%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, rest, host,
             fields);
    exchange->request.fields = exchange->room.fields;
    assert_int_equal(http1_parse(&progress, request, strlen(request),
                                 &exchange->request, &used, &reason),
                     HTTP1_DONE);
    exchange->peer = exchange->neighbour = &peer;
    response_init(&exchange->response, &exchange->room.response);
    exchange->response.persists = true;
    exchange->response.is_head = strcmp(method, "HEAD") == 0;
    assert_true(path_clean(exchange->request.path, clean, &exchange->path));
    handler.answer(handler.self, exchange, bytes_of(rest));
    assert_true(sent_look(exchange, &now));
    assert_true(sent_is_memory(&exchange->response));
    answer.len = sent_take(&exchange->response, answer.text, ANSWER_MAX) -
                 exchange->response.head_bytes;
    answer.body = answer.text + exchange->response.head_bytes;
    answer.status = exchange->response.status;
    answer.persists = exchange->response.persists;
}

void ask(struct exchange *exchange, const char *method, const char *rest,
         const char *fields)
{
    ask_at(exchange, "h", method, rest, fields);
}

unsigned ask_once(const char *method, const char *rest, const char *fields)
{
    static struct exchange exchange;

    ask(&exchange, method, rest, fields);
    assert_null(exchange.response.source);
    response_fini(&exchange.response);
    return answer.status;
}

unsigned get(const char *rest)
{
    return ask_once("GET", rest, "");
}

bool has_field(const char *line)
{
    const char *at = strstr(answer.text, line);

    return at && at < answer.body;
}

void assert_field(const char *line)
{
    if (!has_field(line))
        fail_msg("no %s in: %s", line, answer.text);
}

void assert_length(void)
{
    char line[50];

    snprintf(line, sizeof(line), "\r\nContent-Length: %zu\r\n", answer.len);
    assert_field(line);
}

void assert_json(const char *text, size_t len)
{
    struct bytes json = {text, len};

    if (!json_is_valid_bytes(json))
        fail_msg("no JSON: %.*s", (int)len, text);
}
