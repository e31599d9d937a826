#include "unit/handler/asked.h"

#include <stdio.h>

const struct now now = {.wall_s = 784111777};
const struct server_defaults defaults = {.now = &now};
struct exchange exchange;

void leave(void)
{
    exchange_fini(&exchange);
    exchange.sink = NULL;
    response_init(&exchange.response, &exchange.room.response);
}

void ask(const char *line, const char *fields)
{
    static char text[HTTP1_HEAD_BYTES_MAX];
    struct http1_progress progress = {0};
    struct response *response = &exchange.response;
    enum reason reason;
    size_t used;
    int len = snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: h\r\n%s\r\n",
                       line, fields);

    assert_in_range(len, 1, sizeof(text) - 1);
    leave();
    exchange.request.fields = exchange.room.fields;
    if (http1_parse(&progress, text, (size_t)len, &exchange.request, &used,
                    &reason) != HTTP1_DONE)
        fail_msg("'%s' is refused: %s", text, reason_word(reason).data);
    response->persists = true;
    response->is_head = exchange.request.method == METHOD_HEAD;
}

const char *answer_text(void)
{
    static char text[200000];
    const struct response *response = &exchange.response;

    assert_true(sent_look(&exchange, &now));
    assert_true(sent_is_memory(response));
    sent_copy(response, text, sizeof(text));
    return text;
}

bool has(const char *part)
{
    return strstr(answer_text(), part);
}

void assert_has(const char *part)
{
    if (!has(part))
        fail_msg("'%s' is not in: %s", part, answer_text());
}

void assert_has_not(const char *part)
{
    if (has(part))
        fail_msg("'%s' is in: %s", part, answer_text());
}

int begin_asking(void **state)
{
    (void)state;
    response_init(&exchange.response, &exchange.room.response);
    return 0;
}

int end_asking(void **state)
{
    (void)state;
    leave();
    return 0;
}
