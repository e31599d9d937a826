#include "handler/respond.h"

#include <stdlib.h>

#include "handler/representation.h"

#define ALLOW_LINE "Allow: GET, HEAD, OPTIONS, POST, PUT, DELETE, PATCH\r\n"

struct respond {
    struct respond_options options;
};

static bool has_body(unsigned status)
{
    return status != 204 && status != 304;
}

const char *respond_check(const struct respond_options *options)
{
    switch (options->status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
        return "has the status of a redirect, and no target";
    case 205: /* a 205 must mark its body as empty */
    case 206:
    case 401: /* a 401 needs a challenge */
    case 407:
    case 416:
    case 426: /* a 426 needs Upgrade */
        return "has a status that needs more than a text";
    default:
        break;
    }
    if (options->status < 200 || options->status > 599)
        return "has a status that is not from 200 to 599";
    if (options->text.len > RESPOND_TEXT_MAX)
        return "has a text longer than 65536 bytes";
    if (!has_body(options->status) && options->text.len > 0)
        return "has a text, and a status that allows none";
    if (!head_is_value(options->type) || options->type.len > 200)
        return "has a type with a control character, or longer than 200 bytes";
    return NULL;
}

struct bytes respond_fields(unsigned status)
{
    return status == 405 ? BYTES("Allow: \r\n") : BYTES("");
}

/* Whether the text would be taken for something else: behind a 2xx to CONNECT
 * come the bytes of a tunnel, and a 2xx to TRACE contains the request (RFC 9110
 * 9.3.6, 9.3.8). */
static bool is_mistakable(enum method method, unsigned status)
{
    return (method == METHOD_CONNECT || method == METHOD_TRACE) &&
           status / 100 == 2;
}

/* Answers 304 or 412 if the conditions of the request say so, and returns true.
 * The text has no validators. Conditions count only where the answer would be a
 * 2xx, and not for OPTIONS (RFC 9110 13.2.1). */
static bool answer_condition(const struct respond_options *options,
                             struct exchange *exchange)
{
    return options->status / 100 == 2 &&
           exchange->request.method != METHOD_OPTIONS &&
           representation_answer_unvalidated(BYTES(""), exchange,
                                             &options->defaults);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    const struct respond_options *options = &((struct respond *)self)->options;
    struct response *response = &exchange->response;

    (void)rest;
    if (is_mistakable(exchange->request.method, options->status)) {
        response_make_error(response, 405, BYTES(ALLOW_LINE),
                            &options->defaults);
        return;
    }
    if (answer_condition(options, exchange))
        return;
    response_begin(response, options->status, &options->defaults);
    buf_put(&response->head, respond_fields(options->status));
    if (has_body(options->status)) {
        head_field(&response->head, BYTES("Content-Type"), options->type);
        head_number(&response->head, BYTES("Content-Length"),
                    options->text.len);
    }
    response_add_head(response);
    if (response->is_head)
        return;
    response->body_bytes = options->text.len;
    response_add_memory(response, options->text);
}

struct handler respond_handler(struct respond *respond)
{
    return (struct handler){.answer = answer, .self = respond};
}

struct respond *respond_create(const struct respond_options *options)
{
    struct respond *respond = calloc(1, sizeof(*respond));

    if (!respond)
        return NULL;
    respond->options = *options;
    if (options->type.len == 0)
        respond->options.type = BYTES("text/plain; charset=utf-8");
    return respond;
}

void respond_destroy(struct respond *respond)
{
    free(respond);
}
