#include <assert.h>

#include "base/now.h"
#include "base/units.h"
#include "engine/h1_priv.h"
#include "handler/bad_request.h"
#include "observe/profile.h"

enum { DRAINED_BODY_BYTES_MAX = 65536 }; /* of bodies that nobody wants */

enum taken {
    TAKEN_MORE, /* to come */
    TAKEN_ALL,
    TAKEN_NOT, /* it is not wanted any more */
    TAKEN_BAD  /* it is framed wrongly */
};

/* --- Bytes of a body ------------------------------------------------------- */

/* Whether the body of the current exchange is longer than whoever takes it
 * wants it. */
static bool has_too_much(const struct h1 *h1)
{
    const struct exchange *exchange = h1->current;

    return exchange->sink && exchange->body_max > 0 &&
           h1->input->body.bytes > exchange->body_max;
}

/* False: the body is not wanted any more. */
static bool deliver(struct h1 *h1, struct bytes data)
{
    struct response *response = &h1->current->response;
    struct sink *sink = h1->current->sink;
    bool persists = response->persists;

    if (!sink)
        return h1->input->body.bytes <= DRAINED_BODY_BYTES_MAX;
    if (sink->end && has_too_much(h1))
        return false;
    response->persists = false; /* if it is answered now */
    if (!sink->take(sink, data))
        return false;
    response->persists = persists;
    return true;
}

/* Gives what has been read of the body of the current exchange to its sink.
 * While more is to come, all of that has been taken. */
static enum taken take_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;
    struct input *input = h1->input;
    struct bytes fresh = {input->data + input->begin,
                          input->end - input->begin};
    struct bytes data;

    for (;;) {
        switch (body_reader_next(&h1->input->body, &fresh, &data)) {
        case BODY_DATA:
            if (deliver(h1, data))
                break;
            return TAKEN_NOT;
        case BODY_AGAIN:
            exchange->bytes_in += input->end - input->begin;
            input->begin = input->end = h1->input->body_at;
            return TAKEN_MORE;
        case BODY_END:
            exchange->bytes_in += input->end - input->begin - fresh.len;
            input->begin = input->end - fresh.len;
            exchange->body_bytes = h1->input->body.bytes;
            return TAKEN_ALL;
        case BODY_BAD:
            return TAKEN_BAD;
        }
    }
}

/* Moves the current request to the front of the buffer, so that there is room
 * for its body behind it. Its views move along: the head is parsed anew. */
static void make_room(struct h1 *h1)
{
    struct input *input = h1->input;
    struct request *request = &h1->current->request;
    size_t shift = (size_t)(request->line.data - input->data);
    enum http1_verdict verdict;
    size_t used;
    enum reason reason;

    if (input->begin <= HTTP1_HEAD_BYTES_MAX)
        return;
    memmove(input->data, input->data + shift, input->end - shift);
    input->begin -= shift;
    input->end -= shift;
    verdict = http1_parse(&h1->progress, input->data, input->end, request,
                          &used, &reason);
    assert(verdict == HTTP1_DONE && used == input->begin);
}

static void begin_reading(struct h1 *h1, enum body_framing framing)
{
    body_reader_init(&h1->input->body, framing,
                     h1->current->request.content_length);
    make_room(h1);
    h1->input->body_at = h1->input->begin;
    h1->input->body_since_ms = h1_now_ms(h1);
}

/* A body that somebody wants may take the longer the more of it has come. */
static uint64_t limit_body(const struct h1 *h1)
{
    const struct conn_limits *limits = &h1_context(h1)->limits;

    if (limits->send_rate_min == 0) /* any progress will do */
        return h1_now_ms(h1) + limits->body_ms;
    return h1->input->body_since_ms + limits->body_ms +
           h1->input->body.bytes * MS_PER_S / limits->send_rate_min;
}

/* --- Beside its answer ----------------------------------------------------- */

void h1_end_upload(struct h1 *h1)
{
    h1->is_uploading = false;
    h1->current = NULL;
    h1->is_closing = true;
    h1->client_closes = false;
    session_decide_end(&h1->session, CONN_END_ERROR);
    h1_set_beside(h1);
}

/* Heads before it, which have been sent, are nothing of the answer. */
static bool has_begun(const struct exchange *exchange)
{
    const struct response *response = &exchange->response;

    return response->bytes_sent > 0 &&
           (!exchange->pending || response->bytes_left > 0);
}

/* What comes is no body, or comes too slowly: while nothing of the answer has
 * been sent that is the answer. */
static enum session_step fail(struct h1 *h1, enum reason reason,
                              enum conn_end end)
{
    struct exchange *exchange = h1->current;
    struct session *session = &h1->session;

    if (has_begun(exchange))
        return session_close(session, end);
    h1_end_upload(h1);
    h1_expect_last(h1, exchange, end);
    exchange_drop_pending(exchange);
    exchange_drop_sink(exchange);
    bad_request_answer(exchange, reason, &session->context->style);
    h1_frame(h1, exchange);
    session->context->hooks->on_change(session, true);
    return SESSION_STAYS;
}

/* The rest is of nobody's interest; the answer goes on. */
static void give_up(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    h1->is_uploading = false;
    h1->current = NULL;
    h1->client_closes = false;
    h1_expect_last(h1, exchange, CONN_END_ERROR);
    h1_set_beside(h1); /* what still comes is read when all is sent */
}

static void finish(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    if (exchange->times.first_ns == 0)
        exchange->times.ready_ns = now_read_ns();
    h1->is_uploading = false;
    h1->current = NULL;
    h1_set_beside(h1);
    if (exchange->sink)
        exchange->sink->end(exchange->sink);
}

enum session_step h1_take_upload(struct h1 *h1)
{
    switch (take_body(h1)) {
    case TAKEN_MORE:
        h1_set_beside(h1);
        break;
    case TAKEN_ALL:
        finish(h1);
        break;
    case TAKEN_NOT:
        if (has_too_much(h1))
            return fail(h1, REASON_BODY_TOO_LARGE, CONN_END_ERROR);
        give_up(h1);
        break;
    case TAKEN_BAD:
        return fail(h1, REASON_CHUNK, CONN_END_ERROR);
    }
    return SESSION_STAYS;
}

enum session_step h1_meet_upload_end(struct h1 *h1)
{
    if (!h1->current->is_tunnel)
        return session_close(&h1->session, CONN_END_CLIENT);
    h1->current->body_bytes = h1->input->body.bytes;
    finish(h1);
    return SESSION_STAYS;
}

uint64_t h1_limit_upload(const struct h1 *h1)
{
    /* How long a tunnel may be silent is up to whoever has made it, and how
     * long a full sink may be to whoever is slow. */
    return h1->session.beside == SESSION_TAKES && !h1_first(h1)->is_tunnel
               ? limit_body(h1)
               : h1_now_ms(h1) + SESSION_LOOK_MS;
}

/* The client sends no more, but what it has sent last may still wait to be
 * passed on. */
static enum session_step meet_far_end(struct h1 *h1)
{
    struct sink *sink;

    if (!h1_first(h1)->is_tunnel)
        return session_close(&h1->session, CONN_END_CLIENT);
    sink = h1->is_uploading ? h1->current->sink : NULL;
    if (sink && sink->is_full && sink->foresee_end)
        sink->foresee_end(sink);
    return SESSION_STAYS;
}

enum session_step h1_expire_upload(struct h1 *h1)
{
    const struct exchange *exchange = h1_first(h1);
    struct session *session = &h1->session;

    if (session->beside == SESSION_TAKES && !exchange->is_tunnel)
        return fail(h1, REASON_BODY_TIMEOUT, CONN_END_TIMEOUT);
    switch (transport_look(&session->transport)) {
    case TRANSPORT_PEER_SILENT:
    case TRANSPORT_PEER_SPEAKS:
        break;
    case TRANSPORT_PEER_CLOSED: /* one way maybe by us */
        if (exchange->is_tunnel && !h1->is_uploading &&
            !exchange->is_half_closed)
            return session_close(session, CONN_END_ERROR);
        return meet_far_end(h1);
    case TRANSPORT_PEER_ENDED:
        return meet_far_end(h1);
    case TRANSPORT_PEER_BROKEN:
        return session_close(session, CONN_END_ERROR);
    }
    return SESSION_STAYS;
}

enum session_step h1_begin_tunnel(struct h1 *h1)
{
    h1->current = h1_first(h1);
    h1->is_uploading = true;
    h1->is_closing = true; /* nothing is parsed any more */
    begin_reading(h1, BODY_TUNNEL);
    return h1_take_upload(h1);
}

/* --- Before its answer ----------------------------------------------------- */

static bool takes_no_body(const struct request *request)
{
    return request->method != METHOD_GET && request->method != METHOD_HEAD &&
           request->method != METHOD_OPTIONS;
}

/* False: the socket, which is empty, did not take it. */
static bool send_continue(const struct h1 *h1)
{
    static char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct iovec part = {go_on, sizeof(go_on) - 1};
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    size_t sent;
    enum io_result result = transport_send(&h1->session.transport, &part, 1,
                                           false, &sent);

    profile_leave(before);
    return result == IO_DONE && sent == part.iov_len;
}

/* Nothing more is read of the current body, whose response is made: it ends
 * the connection, since where the next request begins is unknown. */
static enum h1_body end_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    h1->current = NULL;
    h1->client_closes = false;
    h1_expect_last(h1, exchange, CONN_END_ERROR);
    h1_put(h1, exchange);
    return H1_BODY_REFUSED;
}

/* Where the next request begins is soon known, and the client does not wait to
 * be told whether to send the body. */
static bool is_soon_over(const struct request *request)
{
    return !request->is_chunked && !request->expects_continue &&
           request->content_length <= DRAINED_BODY_BYTES_MAX;
}

/* Asks the handler whether it wants the body. What it answers instead is the
 * last if the body is not read, and must know it. */
static void offer_body(struct h1 *h1, struct exchange *exchange)
{
    const struct handler *handler = &h1_context(h1)->handler;
    struct response *response = &exchange->response;
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);
    bool persists = response->persists;

    response->persists = persists && is_soon_over(&exchange->request);
    if (handler->begin)
        handler->begin(handler->self, exchange, exchange->request.path);
    if (response->status == 0)
        response->persists = persists;
    profile_leave(before);
}

/* It has been answered without its body, which goes before the answer, or is
 * not read. */
static enum h1_body skip_body(struct h1 *h1)
{
    return h1->current->response.persists ? H1_BODY_MORE : end_body(h1);
}

/* Who wants the body beside the answer is asked for the answer at once. Somebody
 * in front of them may say no, and has dropped the sink then. */
static enum h1_body begin_upload(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    h1->is_uploading = true;
    h1_ask(h1, exchange);
    if (!exchange->sink) {
        h1->is_uploading = false;
        h1_set_beside(h1);
        if (!is_soon_over(&exchange->request))
            exchange->response.persists = false;
        return skip_body(h1);
    }
    h1_put(h1, exchange);
    return h1_take_upload(h1) == SESSION_CLOSES ? H1_BODY_CLOSED
                                                : H1_BODY_BESIDE;
}

/* The client may wait for a word before it sends the body. */
static enum h1_body go_on(struct h1 *h1)
{
    if (h1->current->request.expects_continue && h1_is_drained(h1) &&
        !send_continue(h1)) {
        (void)session_close(&h1->session, CONN_END_ERROR);
        return H1_BODY_CLOSED;
    }
    return H1_BODY_MORE;
}

/* Before the first byte of a body: whether it will be read at all. */
static enum h1_body begin_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;
    const struct request *request = &exchange->request;

    begin_reading(h1, request->is_chunked ? BODY_CHUNKED : BODY_LENGTH);
    if (!request->expects_other)
        offer_body(h1, exchange);
    if (exchange->response.status != 0)
        return skip_body(h1);
    if (exchange->sink && exchange->sink->end)
        return begin_upload(h1);
    if (exchange->sink)
        return go_on(h1);
    if (request->content_length > DRAINED_BODY_BYTES_MAX ||
        (request->expects_continue && takes_no_body(request))) {
        h1->current = NULL;
        h1->client_closes = false;
        h1_expect_last(h1, exchange, CONN_END_ERROR);
        if (takes_no_body(request))
            h1_answer(h1, exchange);
        else
            h1_answer_refusal(h1, exchange, REASON_BODY_UNWANTED);
        return H1_BODY_REFUSED;
    }
    return go_on(h1);
}

static enum h1_body refuse_body(struct h1 *h1, enum reason reason)
{
    if (h1_refuse(h1, reason, BYTES("")))
        return H1_BODY_REFUSED;
    (void)session_close(&h1->session, CONN_END_ERROR);
    return H1_BODY_CLOSED;
}

static void answer_body(struct h1 *h1, struct exchange *exchange)
{
    if (exchange->response.status == 0) {
        h1_answer(h1, exchange);
        return;
    }
    exchange->times.ready_ns = h1->input->last_ns;
    h1_put(h1, exchange);
}

/* The head stays where it is, and the body goes to the same place behind it
 * again and again. */
enum h1_body h1_advance_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    if (!h1->has_body) {
        enum h1_body result = begin_body(h1);

        if (result != H1_BODY_MORE)
            return result;
        h1->has_body = true;
        h1->until_ms = h1_now_ms(h1) + h1_context(h1)->limits.body_ms;
    }
    switch (take_body(h1)) {
    case TAKEN_MORE:
        if (exchange->sink)
            h1->until_ms = limit_body(h1);
        return H1_BODY_MORE;
    case TAKEN_ALL:
        h1->has_body = false;
        h1->current = NULL;
        answer_body(h1, exchange);
        return H1_BODY_DONE;
    case TAKEN_NOT:
        return exchange->sink ? end_body(h1)
                              : refuse_body(h1, REASON_BODY_UNWANTED);
    case TAKEN_BAD:
        return refuse_body(h1, REASON_CHUNK);
    }
    return H1_BODY_MORE;
}
