/*
 * asked - one exchange: a request given as text, and its answer as text.
 */
#ifndef UNIT_ASKED_H
#define UNIT_ASKED_H

#include <stdio.h>

#include "http/http1.h"
#include "sent.h"

static const struct now now = {.wall_s = 784111777};
static const struct response_style style = {.now = &now};

static struct exchange exchange;

/* What every head begins with, behind the status line. */
#define BEGIN                                 \
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" \
    "X-Content-Type-Options: nosniff\r\n"

/* The exchange is over, as a connection ends it. */
static inline void leave(void)
{
    exchange_fini(&exchange);
    exchange.sink = NULL;
    response_init(&exchange.response);
}

/* Reads the request, which has to be one; its answer begins. */
static inline void ask(const char *line, const char *fields)
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
    if (http1_parse(&progress, text, (size_t)len, &exchange.request, &used,
                    &reason) != HTTP1_DONE)
        fail_msg("'%s' is refused: %s", text, reason_word(reason).data);
    response->persists = true;
    response->is_head = exchange.request.method == METHOD_HEAD;
}

/* All of the answer, which has no files in it, and is ready; until the next
 * call. */
static inline const char *answer_text(void)
{
    static char text[200000];
    const struct response *response = &exchange.response;

    assert_true(sent_look(&exchange, &now));
    assert_true(sent_is_memory(response));
    sent_copy(response, text, sizeof(text));
    return text;
}

static inline bool has(const char *part)
{
    return strstr(answer_text(), part);
}

static inline void assert_has(const char *part)
{
    if (!has(part))
        fail_msg("'%s' is not in: %s", part, answer_text());
}

static inline void assert_has_not(const char *part)
{
    if (has(part))
        fail_msg("'%s' is in: %s", part, answer_text());
}

/* Before and after each test. */
static inline int begin_asking(void **state)
{
    (void)state;
    response_init(&exchange.response);
    return 0;
}

static inline int end_asking(void **state)
{
    (void)state;
    leave();
    return 0;
}

#endif
