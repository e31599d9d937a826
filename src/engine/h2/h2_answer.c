#include <stdlib.h>

#include "base/now.h"
#include "engine/h2/h2_priv.h"
#include "engine/session_log.h"
#include "handler/bad_request.h"
#include "observe/profile.h"

/* An unwanted body of at most so many bytes is thrown away. A request with a
 * longer one may be refused, as in HTTP/1 (begin_body()). */
enum { UNWANTED_BYTES_MAX = 65536 };

/* --- The heap, and whoever may be asleep --------------------------------- */

static void on_wake(struct exchange *exchange)
{
    struct h2_stream *stream = exchange->session;
    struct h2 *h2 = stream->h2;

    if (stream->exchange != exchange || stream->is_gone)
        return;
    if (stream->is_waiting) {
        stream->is_waiting = false;
        h2_stream_set_idle(stream, false);
        h2_stream_ready(stream);
    }
    if (stream->held || stream->credit > 0)
        h2->has_room = true;
    h2->is_ready = true;
    if (!h2->is_at_work)
        h2_make_ready(h2);
}

/* Tells the scheduler that an answer has come, and begins its bid. */
static void arrive(struct h2_stream *stream)
{
    struct session *session = stream->h2->session;
    struct candidate candidate = h2_stream_candidate(stream);

    session->context->hooks->on_arrive(session, &stream->place, candidate.bytes,
                                       candidate.is_stream);
    h2_bid_begin(stream);
}

/* Replaces the client's priority by the one that the location's rules set. */
static void heed_place(struct h2_stream *stream)
{
    struct priority_said said = stream->exchange->priority;

    if (said.has_urgency)
        stream->priority.urgency = said.urgency;
    if (said.has_turns)
        stream->priority.is_incremental = said.is_incremental;
    stream->has_priority |= said.has_urgency || said.has_turns;
}

/* Counts the bytes of the answer outside of its room: a long head, a table of
 * many parts, and what makes its body. */
static void note_beside(struct h2_stream *stream)
{
    const struct response *response = &stream->exchange->response;
    const struct buf *head = &response->head;
    size_t bytes = head->data == head->storage ? 0 : head->capacity;

    if (response->part_count > RESPONSE_PARTS_INLINE)
        bytes += response->part_count * sizeof(struct part);
    if (response->source)
        bytes += response->source->bytes;
    stream->h2->beside_bytes += (uint32_t)bytes - stream->beside;
    stream->beside = (uint32_t)bytes;
}

void h2_put(struct h2_stream *stream)
{
    if (!stream->exchange->pending && !stream->exchange->response.has_head) {
        h2_reset(stream, HTTP2_INTERNAL_ERROR); /* there was no memory */
        return;
    }
    if (stream->exchange->pending)
        h2_note_pending(stream->h2);
    heed_place(stream);
    stream->is_put = true;
    stream->is_waiting = false;
    h2_stream_set_idle(stream, false);
    note_beside(stream);
    stream->turn = ++stream->h2->turns;
    arrive(stream);
    h2_stream_ready(stream);
}

/* --- Asking -------------------------------------------------------------- */

bool h2_refuse(struct h2_stream *stream, enum reason reason)
{
    struct session_context *context = stream->h2->session->context;
    struct exchange *exchange = stream->exchange;

    if (stream->has_head || exchange->response.bytes_sent > 0 ||
        !exchange_rouse(exchange))
        return false;
    exchange_drop_pending(exchange);
    exchange_drop_sink(exchange);
    h2_stream_discard(stream);
    bad_request_answer(exchange, reason, &context->defaults);
    h2_put(stream);
    return true;
}

static void call_handler(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;
    const struct handler *handler = &stream->h2->session->context->handler;
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);

    handler->answer(handler->self, exchange, exchange->request.path);
    profile_leave(before);
}

void h2_ask(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;

    stream->awaits_body = false;
    if (stream->has_ended)
        exchange->times.ready_ns = now_read_ns();
    if (exchange->response.status == 0)
        call_handler(stream);
    h2_put(stream);
}

static void offer_body(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;
    const struct handler *handler = &stream->h2->session->context->handler;
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);

    if (handler->begin)
        handler->begin(handler->self, exchange, exchange->request.path);
    profile_leave(before);
}

/* Sends 100 Continue (RFC 9110 10.1.1). */
static void send_continue(struct h2_stream *stream)
{
    static const char block[] = {0x08, 0x03, '1', '0', '0'};
    struct h2 *h2 = stream->h2;
    bool is_first = !h2->has_block;
    char payload[sizeof(block) + 1] = HPACK_NO_TABLE;

    h2->has_block = true;
    memcpy(payload + is_first, block, sizeof(block));
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(block) + is_first,
                                       .type = HTTP2_HEADERS,
                                       .flags = HTTP2_FLAG_END_HEADERS,
                                       .stream = stream->id},
                 payload);
}

/* Begins an upload: the handler is asked for its answer before the body is
 * read. If the sink is gone after that, a guard has refused the request, and
 * the body is thrown away. */
static void begin_upload(struct h2_stream *stream)
{
    call_handler(stream);
    stream->is_uploading = stream->exchange->sink;
    if (!stream->is_uploading)
        h2_stream_discard(stream);
    h2_put(stream);
}

static bool is_body_of_use(const struct exchange *exchange)
{
    enum method method = exchange->request.method;

    return (method != METHOD_GET && method != METHOD_HEAD &&
            method != METHOD_OPTIONS) ||
           exchange->refuses_body;
}

/* Decides whether the body is read, as h1_body.c does. In HTTP/2 an unwanted
 * body need not be read to its end. */
static void begin_body(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;

    stream->body_since_ms = h2_now_ms(stream->h2);
    offer_body(stream);
    if (exchange->response.status != 0) {
        exchange_drop_sink(exchange);
        h2_stream_discard(stream);
        h2_put(stream);
    } else if (exchange->sink && exchange->sink->end) {
        begin_upload(stream);
    } else if (exchange->sink) {
        stream->awaits_body = true;
        h2_stream_set_idle(stream, true);
        h2_save_room(stream);
        if (exchange->request.expects_continue && !stream->held)
            send_continue(stream);
    } else if (exchange->request.content_length > UNWANTED_BYTES_MAX &&
               !is_body_of_use(exchange)) {
        (void)!h2_refuse(stream, REASON_BODY_UNWANTED);
    } else {
        h2_stream_discard(stream);
        h2_ask(stream);
    }
}

/* --- Exchanges ----------------------------------------------------------- */

static void init_exchange(struct h2_stream *stream)
{
    struct session *session = stream->h2->session;
    struct exchange *exchange = stream->exchange;
    const struct log_needs *needs = &session->context->access_log->needs;
    const struct exchange_side side = {.peer = &session->peer,
                                       .is_introduced = session->is_introduced,
                                       .wants_id = needs->id,
                                       .wants_upstream = needs->upstream,
                                       .wants_head = needs->head,
                                       .room = stream->room,
                                       .on_wake = on_wake,
                                       .session = stream,
                                       .tls = session->transport.tls,
                                       .stock = &stream->h2->stock};

    exchange_init(exchange, &side);
    exchange->times.read_ns = exchange->times.ready_ns = stream->read_ns;
    exchange->response.is_timed = session->context->defaults.server_timing;
    exchange->response.persists = true;
    exchange->response.is_head = exchange->request.method == METHOD_HEAD;
}

/* Whether the request has a body. The whole body may have come while the stream
 * waited for its exchange. */
static bool has_body(const struct h2_stream *stream)
{
    return !stream->has_ended || stream->held;
}

static void begin(struct h2_stream *stream, enum reason reason, bool is_extra)
{
    struct request *request;
    enum reason meaning;

    if (!h2_take_exchange(stream)) {
        h2_reset(stream, HTTP2_REFUSED_STREAM);
        return;
    }
    stream->is_live = true;
    stream->h2->live_count++;
    stream->is_extra = is_extra;
    stream->h2->context->extra_count += is_extra;
    request = &stream->exchange->request;
    meaning = http2_request_read(request, stream->text);
    if (has_body(stream))
        request->is_chunked = !stream->has_length && !stream->wants_socket;
    init_exchange(stream);
    if (reason == REASON_NONE)
        reason = meaning;
    if (reason == REASON_NONE && request->expects_other)
        reason = REASON_EXPECTATION;
    if (reason != REASON_NONE)
        (void)!h2_refuse(stream, reason);
    else if (!has_body(stream) || stream->wants_socket)
        h2_ask(stream);
    else
        begin_body(stream);
}

/* Whether one more stream may have an exchange beside `count` others. The field
 * tables of these others have `table_bytes` bytes. */
static bool has_place_beside(const struct h2 *h2, uint32_t count,
                             uint32_t table_bytes)
{
    uint32_t bytes = h2->text_bytes + h2->beside_bytes + table_bytes +
                     count * (uint32_t)sizeof(struct exchange);

    return count < H2_LIVE_MAX && bytes < H2_LIVE_BYTES_MAX;
}

/* Whether the connection has memory for an extra exchange. H2_BYTES_MAX is its
 * limit until the client has had an answer; later there is none. Rooms do not
 * count, because waiting exchanges give their rooms back when many wait. */
static bool has_bytes_left(const struct h2 *h2)
{
    return h2->is_known ||
           h2->text_bytes + h2->beside_bytes + h2->table_bytes +
                   h2->stream_count * sizeof(struct h2_stream) +
                   h2->live_count * (EXCHANGE_LEAN_BYTES + H2_PROXIED_BYTES) <
               H2_BYTES_MAX;
}

enum place { PLACE_NONE, PLACE_OWN, PLACE_EXTRA };

/* Finds a place for one more exchange. While all connections together have
 * fewer than H2_EXTRA_MAX extra exchanges, waiting exchanges do not count. If
 * they counted, H2_LIVE_MAX of them could wait for hours for an upstream
 * server, and keep all other streams waiting, too. */
static enum place find_place(const struct h2 *h2)
{
    if (has_place_beside(h2, h2->live_count, h2->table_bytes))
        return PLACE_OWN;
    return h2->context->extra_count < H2_EXTRA_MAX && has_bytes_left(h2) &&
                   has_place_beside(h2, h2->live_count - h2->idle_count,
                                    h2_count_tables(h2))
               ? PLACE_EXTRA
               : PLACE_NONE;
}

void h2_begin(struct h2_stream *stream, enum reason reason)
{
    struct h2 *h2 = stream->h2;
    enum place place = find_place(h2);

    h2->session->requests++;
    stats_http2_note(&h2->session->context->stats->http2, STATS_HTTP2_STREAMS);
    if (place != PLACE_NONE) {
        begin(stream, reason, place == PLACE_EXTRA);
        return;
    }
    /* A refusal waits, too, since it takes as much memory as any answer. */
    stream->reason = (uint8_t)reason;
    stream->discards = reason != REASON_NONE;
    if (list_is_empty(&h2->parked))
        h2_save_all_rooms(h2);
    list_put_last(&h2->parked, &stream->wait_node);
}

/* Returns the most urgent parked stream; of several, the one that came
 * first. */
static struct h2_stream *choose_parked(const struct h2 *h2)
{
    struct h2_stream *best = NULL;

    for (struct list *node = h2->parked.next; node != &h2->parked;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, wait_node);

        if (!best || stream->priority.urgency < best->priority.urgency)
            best = stream;
    }
    return best;
}

void h2_begin_parked(struct h2 *h2)
{
    enum place place;

    while (!list_is_empty(&h2->parked) &&
           (place = find_place(h2)) != PLACE_NONE) {
        struct h2_stream *stream = choose_parked(h2);

        list_drop(&stream->wait_node);
        if (stream->held)
            h2->has_room = true;
        begin(stream, (enum reason)stream->reason, place == PLACE_EXTRA);
    }
}

/* --- The end of a stream ------------------------------------------------- */

static void end_exchange(struct h2_stream *stream, bool is_sent)
{
    struct session *session = stream->h2->session;
    struct exchange *exchange = stream->exchange;

    if (!exchange)
        return;
    stream->h2->live_count -= stream->is_live;
    stream->is_live = false;
    stream->h2->context->extra_count -= stream->is_extra;
    stream->is_extra = false;
    h2_stream_set_idle(stream, false);
    exchange->bytes_in = stream->bytes_in;
    exchange->body_bytes = stream->received;
    exchange->times.last_ns = is_sent ? now_read_ns() : 0;
    if (exchange->times.first_ns == 0)
        exchange->times.first_ns = exchange->times.last_ns;
    session->finished++;
    if (access_log_tells(session->context->access_log, LOG_EVENT_REQUEST)) {
        (void)!exchange_rouse(exchange); /* when this fails, no fields are
                                            logged */
        session_log_exchange(session, exchange);
    }
    if (exchange->response.reason != REASON_NONE)
        session_tell_refusal(session, exchange);
    session_count_exchange(session, exchange);
}

static void remove_stream(struct h2_stream *stream)
{
    if (stream->exchange)
        h2_give_exchange(stream);
    h2_stream_free(stream);
}

void h2_finish(struct h2_stream *stream)
{
    struct session *session = stream->h2->session;
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    /* The client is told that nobody wants the rest of the body, although the
     * answer is complete (RFC 9113 8.1). */
    if (!stream->has_ended)
        h2_put_reset(stream->h2, stream->id, HTTP2_NO_ERROR);
    session->context->hooks->on_answered(session,
                                         stream->exchange->response.bytes_sent,
                                         now_read_ns());
    h2_note_answer(stream->h2, &stream->exchange->response);
    end_exchange(stream, true);
    h2_bid_pass_on(stream);
    remove_stream(stream);
    profile_leave(before);
}

void h2_give_up(struct h2_stream *stream)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    if (!stream->is_gone)
        end_exchange(stream, false);
    stream->is_gone = true;
    h2_stream_drop_held(stream);
    h2_bid_drop(stream);
    h2_stream_rest(stream);
    list_drop(&stream->wait_node);
    if (stream->unsent == 0)
        remove_stream(stream); /* otherwise note_sent() does, after its last
                                  byte */
    profile_leave(before);
}

void h2_reset(struct h2_stream *stream, enum http2_error error)
{
    h2_put_reset(stream->h2, stream->id, error);
    h2_give_up(stream);
}

void h2_punish(struct h2 *h2, uint32_t id, enum http2_error error)
{
    struct h2_stream *stream = h2_stream_find(h2, id);

    if (stream)
        h2_reset(stream, error);
    else
        h2_put_reset(h2, id, error);
    (void)!h2_spend(h2, STATS_HTTP2_RESETS);
}

void h2_drop_unfinished(struct h2 *h2)
{
    for (struct list *node = h2->streams.next; node != &h2->streams;) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        node = node->next;
        if (!stream->has_ended && !stream->is_framed)
            h2_give_up(stream);
    }
}

bool h2_give_up_all(struct h2 *h2)
{
    bool is_broken_off = false;

    for (struct list *node = h2->streams.next; node != &h2->streams;) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        node = node->next;
        is_broken_off = true;
        h2_give_up(stream);
    }
    return is_broken_off;
}
