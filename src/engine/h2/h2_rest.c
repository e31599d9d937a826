#include <stdlib.h>

#include "engine/h2/h2_priv.h"

/*
 * An exchange that waits for an upstream server needs neither a table of its
 * request's fields, which can be made again from the text, nor room for a
 * response. These two are most of an exchange's memory. So where many exchanges
 * of a connection wait, they give both back, which is called to rest: a hundred
 * streams are to cost no more than 256 KiB. So do exchanges of many streams
 * whose windows are shut. Where few exchanges wait, they keep both, which is
 * quicker.
 */

/* --- Texts --------------------------------------------------------------- */

static struct pool *pool_of(struct h2_context *context, size_t len)
{
    size_t at = (len + sizeof(size_t) - 1) / H2_TEXT_STEP;

    return at < H2_TEXT_POOLS ? &context->texts[at] : NULL;
}

char *h2_take_text(struct h2_context *context, size_t len)
{
    struct pool *pool = pool_of(context, len);

    return pool ? pool_take(pool) : malloc(len);
}

void h2_give_text(struct h2_context *context, char *text, size_t len)
{
    struct pool *pool = pool_of(context, len);

    if (pool)
        pool_give(pool, text);
    else
        free(text);
}

/* --- Exchanges ----------------------------------------------------------- */

static uint32_t table_bytes(unsigned count)
{
    return count * (uint32_t)sizeof(struct field);
}

static void give_room(struct h2_stream *stream, struct exchange *exchange)
{
    struct h2 *h2 = stream->h2;
    struct field *many = exchange->request.many;

    if (many)
        h2->table_bytes -= table_bytes(http2_text_fields(stream->text));
    free(many);
    exchange->request.many = NULL;
    pool_give(&h2->context->rooms, stream->room);
    stream->room = NULL;
}

/* Gives the exchange a room, and a field table when the fields are too many for
 * the room. Returns false when there is no memory. */
static bool take_room(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct request *request = &stream->exchange->request;
    unsigned count = http2_text_fields(stream->text);

    stream->room = pool_take(&h2->context->rooms);
    if (!stream->room)
        return false;
    request->fields = stream->room->fields;
    request->many = NULL;
    if (count <= REQUEST_FIELDS_FEW)
        return true;
    request->fields = request->many = malloc(table_bytes(count));
    if (request->many) {
        h2->table_bytes += table_bytes(count);
        return true;
    }
    pool_give(&h2->context->rooms, stream->room);
    stream->room = NULL;
    return false;
}

bool h2_take_exchange(struct h2_stream *stream)
{
    struct pool *exchanges = &stream->h2->context->exchanges;

    stream->exchange = pool_take(exchanges);
    if (!stream->exchange)
        return false;
    if (take_room(stream))
        return true;
    pool_give(exchanges, stream->exchange);
    stream->exchange = NULL;
    return false;
}

void h2_give_exchange(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;

    stream->h2->beside_bytes -= stream->beside;
    stream->beside = 0;
    stream->exchange = NULL; /* on_wake() ignores the exchange from now on */
    exchange_fini(exchange);
    give_room(stream, exchange);
    pool_give(&stream->h2->context->exchanges, exchange);
}

uint32_t h2_count_tables(const struct h2 *h2)
{
    uint32_t bytes = 0;

    if (h2->table_bytes == 0)
        return 0;
    for (const struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        const struct h2_stream *stream = OWNER_OF(node, struct h2_stream,
                                                  list_node);

        if (stream->exchange && stream->exchange->request.many &&
            !stream->is_idle)
            bytes += table_bytes(http2_text_fields(stream->text));
    }
    return bytes;
}

/* --- Rest ---------------------------------------------------------------- */

/* Whether the exchange can do without its room while it waits. Its pending
 * answer says so; if it has none, its source does. */
static bool may_rest(const struct exchange *exchange)
{
    struct pending *pending = exchange->pending;
    const struct source *source = exchange->response.source;

    if (pending)
        return pending->rest && pending->rest(pending);
    return source && source->rests;
}

static void rest(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;
    struct request *request = &exchange->request;

    if (stream->unsent > 0 || !response_can_rest(&exchange->response) ||
        !may_rest(exchange))
        return;
    response_take_room(&exchange->response);
    request->seen = 0; /* the request has no fields for now */
    request->field_count = 0;
    request->fields = NULL;
    give_room(stream, exchange);
}

void h2_save_all_rooms(struct h2 *h2)
{
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        if (stream->is_waiting && !stream->is_gone)
            rest(stream);
    }
}

void h2_save_room(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;

    if (h2->idle_count == H2_LIVE_MAX)
        h2_save_all_rooms(h2);
    else if (h2->idle_count > H2_LIVE_MAX || !list_is_empty(&h2->parked))
        rest(stream);
}

void h2_save_shut_room(struct h2_stream *stream)
{
    struct response *response = &stream->exchange->response;

    if (stream->h2->stream_count <= H2_LIVE_MAX || response->bytes_left > 0 ||
        !response_has_more(response))
        return;
    /* The source is not pulled before the window opens. */
    response->is_waiting = true;
    rest(stream);
}

bool h2_rouse(struct exchange *exchange)
{
    struct h2_stream *stream = exchange->session;

    if (!take_room(stream))
        return false;
    response_lend_room(&exchange->response, &stream->room->response);
    http2_request_read_fields(&exchange->request, stream->text);
    return true;
}
