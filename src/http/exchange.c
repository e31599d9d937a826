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
           (request->fields == request->few
                ? 0
                : REQUEST_FIELDS_MAX * sizeof(struct field)) +
           (head->data == head->storage ? 0 : head->capacity);
}

void exchange_init(struct exchange *exchange, const struct exchange_side *side)
{
    list_init(&exchange->link);
    exchange->peer = exchange->neighbour = side->peer;
    exchange->on_wake = side->on_wake;
    exchange->session = side->session;
    exchange->times = (struct exchange_times){0};
    exchange->bytes_in = 0;
    exchange->body_bytes = 0;
    exchange->body_max = 0;
    exchange->on_done = NULL;
    exchange->has_begun = false;
    exchange->is_tunnel = false;
    exchange->is_half_closed = false;
    exchange->sink = NULL;
    response_init(&exchange->response);
}

void exchange_fini(struct exchange *exchange)
{
    response_fini(&exchange->response);
    if (exchange->sink)
        exchange->sink->destroy(exchange->sink);
    if (exchange->on_done)
        exchange->on_done(exchange->on_done_object);
}
