#include <assert.h>
#include <sys/socket.h>

#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "observe/profile.h"

/* Bodies that nobody wants are read and dropped up to this size. */
enum { DRAINED_BODY_BYTES_MAX = 65536 };

bool conn_expects_body(const struct request *request)
{
    return request->is_chunked || request->content_length > 0;
}

static bool takes_no_body(const struct request *request)
{
    return request->method != METHOD_GET && request->method != METHOD_HEAD &&
           request->method != METHOD_OPTIONS;
}

/* Its views move along: the head is parsed anew. */
void conn_make_room(struct conn *conn)
{
    struct input *input = conn->input;
    struct request *request = &conn->current->request;
    size_t shift = (size_t)(request->line.data - input->data);
    enum http1_verdict verdict;
    size_t used;
    unsigned status;

    if (input->begin <= HTTP1_HEAD_BYTES_MAX)
        return;
    memmove(input->data, input->data + shift, input->end - shift);
    input->begin -= shift;
    input->end -= shift;
    verdict = http1_parse(&conn->progress, input->data, input->end, request,
                          &used, &status);
    assert(verdict == HTTP1_DONE && used == input->begin);
}

/* False: the socket, which is empty, did not take it. */
static bool send_continue(const struct conn *conn)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    ssize_t sent = send(conn->io.fd, go_on, sizeof(go_on) - 1, MSG_NOSIGNAL);

    profile_leave(before);
    return sent == (ssize_t)sizeof(go_on) - 1;
}

/* Nothing more is read of the current body, whose response is made: it ends
 * the connection, since where the next request begins is unknown. */
static enum conn_body end_body(struct conn *conn)
{
    struct exchange *exchange = conn->current;

    conn->current = NULL;
    conn->client_closes = false;
    conn_expect_last(conn, exchange, CONN_END_ERROR);
    conn_add_to_row(conn, exchange);
    return CONN_BODY_REFUSED;
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
static void offer_body(struct conn *conn, struct exchange *exchange)
{
    const struct handler *handler = &conn->set->handler;
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

/* The client may wait for a word before it sends the body. */
static enum conn_body go_on(struct conn *conn)
{
    const struct input *input = conn->input;

    if (conn->current->request.expects_continue && input->begin == input->end &&
        !send_continue(conn)) {
        conn_close(conn, CONN_END_ERROR);
        return CONN_BODY_CLOSED;
    }
    return CONN_BODY_MORE;
}

/* Before the first byte of a body: whether it will be read at all. */
static enum conn_body begin_body(struct conn *conn)
{
    struct exchange *exchange = conn->current;
    const struct request *request = &exchange->request;

    conn->body_left = request->content_length;
    conn->body_bytes = 0;
    chunked_init(&conn->chunked);
    conn_make_room(conn);
    conn->body_at = (uint32_t)conn->input->begin;
    if (!request->expects_other)
        offer_body(conn, exchange);
    if (exchange->response.status != 0) /* the body goes before it */
        return exchange->response.persists ? CONN_BODY_MORE : end_body(conn);
    if (exchange->sink && exchange->sink->end) {
        conn_begin_upload(conn);
        return CONN_BODY_BESIDE;
    }
    if (exchange->sink)
        return go_on(conn);
    if (request->content_length > DRAINED_BODY_BYTES_MAX ||
        (request->expects_continue && takes_no_body(request))) {
        conn->current = NULL;
        conn->client_closes = false;
        conn_expect_last(conn, exchange, CONN_END_ERROR);
        if (takes_no_body(request))
            conn_answer(conn, exchange);
        else
            conn_answer_error(conn, exchange, 413, true);
        return CONN_BODY_REFUSED;
    }
    return go_on(conn);
}

static enum conn_body refuse_body(struct conn *conn, unsigned status)
{
    return conn_put_refusal(conn, status, BYTES("")) ? CONN_BODY_REFUSED
                                                     : CONN_BODY_CLOSED;
}

/* False: the body is not wanted any more. */
static bool deliver(struct conn *conn, struct bytes data)
{
    struct response *response = &conn->current->response;
    struct sink *sink = conn->current->sink;
    bool persists = response->persists;

    conn->body_bytes += data.len;
    if (!sink)
        return conn->body_bytes <= DRAINED_BODY_BYTES_MAX;
    if (sink->end && conn_has_too_much(conn))
        return false;
    response->persists = false; /* if it is answered now */
    if (!sink->take(sink, data))
        return false;
    response->persists = persists;
    return true;
}

enum conn_taken conn_take_body(struct conn *conn)
{
    struct input *input = conn->input;
    struct bytes fresh = {input->data + input->begin,
                          input->end - input->begin};
    struct bytes data;

    if (!conn->current->request.is_chunked) {
        size_t step = fresh.len < conn->body_left ? fresh.len
                                                  : (size_t)conn->body_left;

        conn->body_left -= step;
        input->begin += step;
        if (!deliver(conn, (struct bytes){fresh.data, step}))
            return CONN_TAKEN_NOT;
        return conn->body_left == 0 ? CONN_TAKEN_ALL : CONN_TAKEN_MORE;
    }
    for (;;) {
        switch (chunked_next(&conn->chunked, &fresh, &data)) {
        case CHUNKED_DATA:
            if (deliver(conn, data))
                break;
            return CONN_TAKEN_NOT;
        case CHUNKED_AGAIN:
            return CONN_TAKEN_MORE;
        case CHUNKED_END:
            input->begin = input->end - fresh.len;
            return CONN_TAKEN_ALL;
        case CHUNKED_BAD:
            return CONN_TAKEN_BAD;
        }
    }
}

static void answer_body(struct conn *conn, struct exchange *exchange)
{
    if (exchange->response.status == 0) {
        conn_answer(conn, exchange);
        return;
    }
    exchange->times.ready_ns = conn->input->last_ns;
    conn_add_to_row(conn, exchange);
}

/* Reads on in the body of the current exchange; answers when it is complete.
 * The head stays where it is, and the body goes to the same place behind it
 * again and again. */
enum conn_body conn_advance_body(struct conn *conn)
{
    struct exchange *exchange = conn->current;
    size_t before;

    if (conn->state != CONN_BODY) {
        enum conn_body result = begin_body(conn);

        if (result != CONN_BODY_MORE)
            return result;
    }
    before = conn->input->begin;
    switch (conn_take_body(conn)) {
    case CONN_TAKEN_MORE:
        exchange->bytes_in += conn->input->end - before;
        conn->input->begin = conn->input->end = conn->body_at;
        conn_enter(conn, CONN_BODY);
        if (exchange->sink)
            conn_limit_body(conn);
        break;
    case CONN_TAKEN_ALL:
        exchange->bytes_in += conn->input->begin - before;
        exchange->body_bytes = conn->body_bytes;
        conn->current = NULL;
        conn_enter(conn, CONN_READING);
        answer_body(conn, exchange);
        return CONN_BODY_DONE;
    case CONN_TAKEN_NOT:
        return exchange->sink ? end_body(conn) : refuse_body(conn, 413);
    case CONN_TAKEN_BAD:
        return refuse_body(conn, 400);
    }
    return CONN_BODY_MORE;
}
