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
    exchange->is_introduced = side->is_introduced;
    exchange->wants_id = side->wants_id;
    exchange->wants_upstream = side->wants_upstream;
    exchange->id_len = 0;
    exchange->upstream.name.len = 0;
    exchange->is_tunnel = false;
    exchange->is_half_closed = false;
    exchange->sink = NULL;
    response_init(&exchange->response);
    if (!side->wants_head)
        return;
    buf_init(&exchange->head_copy, NULL, 0, RESPONSE_HEAD_BYTES_MAX);
    exchange->response.head_copy = &exchange->head_copy;
}

void exchange_fini(struct exchange *exchange)
{
    if (exchange->response.head_copy)
        buf_fini(&exchange->head_copy);
    response_fini(&exchange->response);
    if (exchange->sink)
        exchange->sink->destroy(exchange->sink);
    if (exchange->on_done)
        exchange->on_done(exchange->on_done_object);
}
