#include <stdlib.h>

#include "engine/h2/h2_priv.h"

/* Returns the place of the request `id` in the client's order. With
 * `is_behind`, returns the place between this request and the next. */
static uint64_t order_of(uint32_t id, bool is_behind)
{
    return (uint64_t)id << 1 | is_behind;
}

/* --- The table ----------------------------------------------------------- */

/* Sets the stock of the connection. When it has more streams than may have an
 * exchange each, the streams themselves take its memory. */
static void bound_stock(struct h2 *h2)
{
    h2->stock.bytes_max = h2->stream_count > H2_LIVE_MAX ? 0
                                                         : H2_STOCK_BYTES_MAX;
}

struct h2_stream *h2_stream_open(struct h2 *h2, uint32_t id)
{
    struct h2_stream *stream;

    if (heap_reserve(&h2->ready, h2->stream_count + 1) != 0)
        return NULL;
    stream = pool_take(&h2->context->streams);
    if (!stream)
        return NULL;
    memset(stream, 0, sizeof(*stream));
    list_init(&stream->wait_node);
    list_put_last(&h2->streams, &stream->list_node);
    stream->h2 = h2;
    stream->id = id;
    stream->order = order_of(id, false);
    stream->window = h2->client.window;
    stream->receive_window = H2_STREAM_WINDOW;
    stream->receive_size = H2_STREAM_WINDOW;
    stream->priority = PRIORITY_DEFAULT;
    h2->stream_count++;
    bound_stock(h2);
    return stream;
}

/* Turns the held bytes into credit of the connection, which h2_settle_windows()
 * will give back to the connection's window. */
void h2_stream_drop_held(struct h2_stream *stream)
{
    stream->h2->credit += stream->held_len - stream->held_at;
    free(stream->held);
    stream->held = NULL;
    stream->held_at = stream->held_len = 0;
}

void h2_stream_discard(struct h2_stream *stream)
{
    stream->discards = true;
    stream->awaits_body = stream->is_uploading = false;
    h2_stream_drop_held(stream);
}

void h2_stream_free(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;

    h2_stream_rest(stream);
    list_drop(&stream->wait_node);
    list_drop(&stream->list_node);
    h2->stream_count--;
    bound_stock(h2);
    if (stream->is_extra_text)
        h2->context->extra_text_bytes -= stream->text_len;
    *(stream->is_extra_text ? &h2->extra_text_bytes
                            : &h2->text_bytes) -= stream->text_len;
    h2_give_text(h2->context, stream->text, stream->text_len);
    h2_stream_drop_held(stream);
    pool_give(&h2->context->streams, stream);
}

/* The search begins at the end: streams are in the order of their ids, and most
 * frames are for the last stream, or for one still to come. */
struct h2_stream *h2_stream_find(const struct h2 *h2, uint32_t id)
{
    for (struct list *node = h2->streams.prev; node != &h2->streams;
         node = node->prev) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        if (stream->id <= id)
            return stream->id == id && !stream->is_gone ? stream : NULL;
    }
    return NULL;
}

uint32_t h2_stream_count_open(const struct h2 *h2)
{
    uint32_t count = 0;

    for (const struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next)
        count += !OWNER_OF(node, struct h2_stream, list_node)->is_gone;
    return count;
}

/* --- The order ----------------------------------------------------------- */

struct candidate h2_stream_candidate(const struct h2_stream *stream)
{
    const struct response *response = &stream->exchange->response;
    bool has_more = response_has_more(response);
    struct candidate candidate = {.bytes = response->bytes_left,
                                  .place = &stream->place};

    if (!stream->has_head) /* HPACK makes few bytes of the head's lines */
        candidate.bytes -= http2_lines_bytes(response);
    if (has_more && response->has_length) {
        candidate.bytes += response->length_left;
    } else if (has_more || stream->exchange->pending) {
        candidate.bytes += response->bytes_sent - response->bytes_before;
        candidate.is_stream = true;
    }
    return candidate;
}

/*
 * The key in h2->ready:  urgency (3 bits) | order in this urgency (61 bits)
 *
 * When the client gives no priorities, streams of equal urgency are ordered by
 * the scheduler's key: the shortest goes first. A client that gives priorities
 * knows in which order it can use what it asks for: with the shortest first,
 * the picture at the top of a page would come last. So its streams of equal
 * urgency go in the order of requests (RFC 9218 10).
 *
 * An incremental stream takes turns with others if it is longer than a quantum.
 * In the scheduler's order, the stream's key grows with the quanta that it has
 * been sent. In the order of requests, the stream goes behind all open streams
 * after each quantum; so do streams of unknown length, which may have no end.
 */
static bool takes_turns(const struct h2_stream *stream)
{
    return stream->priority.is_incremental ||
           (stream->h2->is_ordered && stream->place.is_stream);
}

static uint64_t key_of(const struct h2_stream *stream)
{
    enum { KEY_BITS = 61 };
    const struct session *session = stream->h2->session;
    uint64_t quantum = session->context->limits.quantum;
    uint64_t urgency = (uint64_t)stream->priority.urgency << KEY_BITS;
    uint64_t most = (1ull << KEY_BITS) - 1;
    struct candidate candidate;
    uint64_t bytes;
    uint64_t key;

    if (stream->h2->is_ordered)
        return urgency | stream->order;
    candidate = h2_stream_candidate(stream);
    bytes = candidate.bytes;
    if (takes_turns(stream) && !candidate.is_stream && bytes > quantum)
        bytes = quantum +
                stream->exchange->response.bytes_sent / quantum * quantum;
    key = session->context->hooks->key_of(session, &stream->place, bytes);
    return urgency | (key < most ? key : most);
}

void h2_stream_note_turn(struct h2_stream *stream, uint32_t bytes)
{
    struct h2 *h2 = stream->h2;
    uint64_t quantum = h2->session->context->limits.quantum;

    if (!h2->is_ordered) {
        stream->turn = ++h2->turns;
        return;
    }
    stream->had += bytes;
    if (stream->had < quantum)
        return;
    stream->had %= quantum;
    if (!takes_turns(stream))
        return;
    stream->turn = ++h2->turns;
    stream->order = order_of(h2->last_id, true);
}

/* Whether the stream waits for its window before the head of its answer is
 * read: what comes of the body with the head could not be sent. With few
 * streams there is room for that, so that a client may wait for all heads
 * first. */
static bool waits_for_head(const struct h2_stream *stream)
{
    const struct h2 *h2 = stream->h2;

    return stream->exchange->is_held_back && h2->stream_count > H2_LIVE_MAX &&
           (stream->window < H2_FRAME_MIN || h2->window < H2_FRAME_MIN);
}

bool h2_stream_is_shut(const struct h2_stream *stream)
{
    const struct response *response = &stream->exchange->response;

    if (stream->exchange->pending)
        return waits_for_head(stream);
    return (stream->window <= 0 || stream->h2->window <= 0) &&
           stream->has_head &&
           (response->bytes_left > 0 || response_has_more(response));
}

/* Puts the stream into h2->shut, and notes since when its window is shut. */
static void shut(struct h2_stream *stream)
{
    stream->h2->wants_stock |= stream->exchange->pending != NULL;
    if (stream->shut_at_ms == 0)
        stream->shut_at_ms = h2_now_ms(stream->h2);
    if (list_is_empty(&stream->wait_node))
        list_put_last(&stream->h2->shut, &stream->wait_node);
}

static void open(struct h2_stream *stream)
{
    if (stream->shut_at_ms != 0)
        stream->shut_ms += h2_now_ms(stream->h2) - stream->shut_at_ms;
    stream->shut_at_ms = 0;
}

void h2_stream_rest(struct h2_stream *stream)
{
    heap_drop(&stream->h2->ready, &stream->ready);
    if (stream->is_put)
        list_drop(&stream->wait_node);
}

void h2_stream_ready(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;

    h2_stream_rest(stream);
    if (stream->is_gone || stream->is_framed)
        return;
    if (h2_stream_is_shut(stream)) {
        shut(stream);
        return;
    }
    open(stream);
    heap_put(&h2->ready, &stream->ready, key_of(stream), stream->turn);
}

struct h2_stream *h2_stream_first(const struct h2 *h2)
{
    const struct heap_item *first = heap_first(&h2->ready);

    return first ? OWNER_OF(first->node, struct h2_stream, ready) : NULL;
}

void h2_stream_reopen_all(struct h2 *h2)
{
    struct list shut;

    if (list_is_empty(&h2->shut))
        return;
    shut = h2->shut; /* moves the list to another head */
    shut.next->prev = shut.prev->next = &shut;
    list_init(&h2->shut);
    while (!list_is_empty(&shut))
        h2_stream_ready(OWNER_OF(shut.next, struct h2_stream, wait_node));
}

void h2_stream_offer_stock(struct h2 *h2)
{
    if (!h2->wants_stock || h2->stream_count > H2_LIVE_MAX)
        return;
    h2->wants_stock = false;
    h2_stream_reopen_all(h2);
}
