#include "http/exchange.h"

#include <stdlib.h>

struct field *exchange_make_fields(void)
{
    return malloc(REQUEST_FIELDS_MAX * sizeof(struct field));
}

size_t exchange_bytes(const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct buf *head = &exchange->response.head;

    return sizeof(*exchange) +
           (request->fields == request->many
                ? REQUEST_FIELDS_MAX * sizeof(struct field)
                : 0) +
           (head->data == head->storage ? 0 : head->capacity);
}

void exchange_drop_pending(struct exchange *exchange)
{
    struct pending *pending = exchange->pending;

    exchange->pending = NULL;
    if (pending)
        pending->destroy(pending);
}

void exchange_drop_sink(struct exchange *exchange)
{
    struct sink *sink = exchange->sink;

    exchange->sink = NULL;
    if (sink)
        sink->destroy(sink);
}

void exchange_fini(struct exchange *exchange)
{
    if (exchange->response.head_copy)
        buf_fini(&exchange->head_copy);
    exchange_drop_pending(exchange);
    response_fini(&exchange->response);
    exchange_drop_sink(exchange);
    if (exchange->on_done)
        exchange->on_done(exchange->on_done_object);
}
