#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

#include "base/now.h"
#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "http/proxy_protocol.h"
#include "observe/profile.h"

enum {
    /* Answers are made ahead up to so many, or so many bytes, before they
     * are sent together. */
    AHEAD_EXCHANGES_MAX = 32,
    AHEAD_BYTES_MAX = 65536,
    /* Bodies that nobody wants are read and dropped up to this size. */
    DRAINED_BODY_BYTES_MAX = 65536,
    LEADING_BYTES_MAX = 2 * HTTP1_LEADING_CRLF_MAX
};

_Static_assert(INPUT_BYTES >= HTTP1_HEAD_BYTES_MAX + LEADING_BYTES_MAX + 1024,
               "a head over its limit must be seen as such");

#define NO_BYTES ((struct bytes){"", 0})

/* --- Answering ---------------------------------------------------------- */

/* Something is wrong with it, and nothing that follows will be understood. */
static void expect_last(struct conn *conn, struct exchange *exchange,
                        enum conn_end end)
{
    exchange->response.persists = false;
    conn->is_closing = true;
    conn->end = (uint8_t)end;
}

/* Puts an answered exchange at the end of the row. */
static void add_to_row(struct conn *conn, struct exchange *exchange)
{
    if (list_is_empty(&conn->exchanges))
        conn->blocked_ms = 0;
    list_put_last(&conn->exchanges, &exchange->link);
    conn_heed(conn, &exchange->response);
}

/* What comes after it in the buffer was read with its end, or later. */
static void note_arrival(const struct conn *conn, struct exchange *exchange)
{
    struct input *input = conn->input;

    exchange->peer = &conn->peer;
    exchange->times = (struct exchange_times){0};
    exchange->peer = &conn->peer;
    exchange->keeper.object = NULL;
    exchange->sink = NULL;
    exchange->has_begun = false;
    exchange->body_bytes = 0;
    exchange->bytes_in = 0;
    exchange->times.read_ns = input ? input->first_ns : now_read_ns();
    exchange->times.ready_ns = input ? input->last_ns : exchange->times.read_ns;
    if (input)
        input->first_ns = input->last_ns;
}

/* The connection persists if client, limits and server all want it to. */
static void begin_response(struct conn *conn, struct exchange *exchange)
{
    const struct conn_set *set = conn->set;
    const struct request *request = &exchange->request;
    struct response *response = &exchange->response;

    conn->requests++;
    response_init(response);
    response->is_timed = set->style.server_timing;
    response->is_head = request->method == METHOD_HEAD;
    response->is_http10 = request->minor == 0;
    response->persists = request->keep_alive && !set->is_draining &&
                         (set->limits.requests_max == 0 ||
                          conn->requests < set->limits.requests_max);
    if (!request->keep_alive)
        conn->client_closes = true;
    if (!response->persists)
        conn_decide_end(conn, !request->keep_alive ? CONN_END_CLIENT
                              : set->is_draining   ? CONN_END_DRAIN
                                                   : CONN_END_LIMIT);
}

static void answer_error(struct conn *conn, struct exchange *exchange,
                         unsigned status, bool closes)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);

    if (closes)
        expect_last(conn, exchange,
                    status == 408 ? CONN_END_TIMEOUT : CONN_END_ERROR);
    response_make_error(&exchange->response, status, NO_BYTES,
                        &conn->set->style);
    add_to_row(conn, exchange);
    profile_leave(before);
}

static void answer(struct conn *conn, struct exchange *exchange)
{
    const struct handler *handler = &conn->set->handler;
    enum stats_phase before;

    if (exchange->request.expects_other) {
        answer_error(conn, exchange, 417, false);
        return;
    }
    exchange->times.ready_ns = conn->input->last_ns;
    before = profile_enter(STATS_PHASE_LOOKUP);
    handler->answer(handler->self, exchange, exchange->request.path);
    add_to_row(conn, exchange);
    profile_leave(before);
}

static bool begins_with(struct bytes text, struct bytes prefix)
{
    return text.len >= prefix.len &&
           memcmp(text.data, prefix.data, prefix.len) == 0;
}

/* Puts an error as the last answer into the row. False: no memory, closed. */
static bool refuse(struct conn *conn, unsigned status, struct bytes line)
{
    struct exchange *exchange = conn->current;

    conn->current = NULL;
    conn->client_closes = false;
    if (!exchange) {
        exchange = exchange_take(conn->set);
        if (!exchange) {
            conn_close(conn, CONN_END_ERROR);
            return false;
        }
        note_arrival(conn, exchange);
        if (conn->input)
            exchange->bytes_in = conn->input->end - conn->input->begin;
        exchange->request = (struct request){.line = line};
        response_init(&exchange->response);
        exchange->response.is_timed = conn->set->style.server_timing;
        exchange->response.is_head = begins_with(line, BYTES("HEAD "));
        conn->requests++;
    }
    answer_error(conn, exchange, status, true);
    return true;
}

void conn_refuse(struct conn *conn, unsigned status)
{
    if (refuse(conn, status, NO_BYTES))
        conn_advance(conn);
}

/* --- Bodies ------------------------------------------------------------- */

enum body_result {
    BODY_MORE,
    BODY_DONE,
    BODY_REFUSED, /* the last answer is in the row */
    BODY_CLOSED   /* so is the connection */
};

static bool has_body(const struct request *request)
{
    return request->is_chunked || request->content_length > 0;
}

static bool takes_no_body(const struct request *request)
{
    return request->method != METHOD_GET && request->method != METHOD_HEAD &&
           request->method != METHOD_OPTIONS;
}

/* Moves the current request to the front of the buffer, so that there is room
 * for its body behind it. Its views move along: the head is parsed anew. */
static void make_room(struct conn *conn)
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
static enum body_result end_body(struct conn *conn)
{
    struct exchange *exchange = conn->current;

    conn->current = NULL;
    conn->client_closes = false;
    expect_last(conn, exchange, CONN_END_ERROR);
    add_to_row(conn, exchange);
    return BODY_REFUSED;
}

/* Asks the handler whether it wants the body. What it answers instead is the
 * last, and must know it. */
static void offer_body(struct conn *conn, struct exchange *exchange)
{
    const struct handler *handler = &conn->set->handler;
    struct response *response = &exchange->response;
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);
    bool persists = response->persists;

    response->persists = false;
    if (handler->begin)
        handler->begin(handler->self, exchange, exchange->request.path);
    if (response->status == 0)
        response->persists = persists;
    profile_leave(before);
}

/* The client may wait for a word before it sends the body. */
static enum body_result go_on(struct conn *conn)
{
    const struct input *input = conn->input;

    if (conn->current->request.expects_continue && input->begin == input->end &&
        !send_continue(conn)) {
        conn_close(conn, CONN_END_ERROR);
        return BODY_CLOSED;
    }
    return BODY_MORE;
}

/* Before the first byte of a body: whether it will be read at all. */
static enum body_result begin_body(struct conn *conn)
{
    struct exchange *exchange = conn->current;
    const struct request *request = &exchange->request;

    conn->body_left = request->content_length;
    conn->body_bytes = 0;
    chunked_init(&conn->chunked);
    make_room(conn);
    conn->body_at = (uint32_t)conn->input->begin;
    if (!request->expects_other)
        offer_body(conn, exchange);
    if (exchange->response.status != 0)
        return end_body(conn);
    if (exchange->sink)
        return go_on(conn);
    if (request->content_length > DRAINED_BODY_BYTES_MAX ||
        (request->expects_continue && takes_no_body(request))) {
        conn->current = NULL;
        conn->client_closes = false;
        expect_last(conn, exchange, CONN_END_ERROR);
        if (takes_no_body(request))
            answer(conn, exchange);
        else
            answer_error(conn, exchange, 413, true);
        return BODY_REFUSED;
    }
    return go_on(conn);
}

static enum body_result refuse_body(struct conn *conn, unsigned status)
{
    return refuse(conn, status, NO_BYTES) ? BODY_REFUSED : BODY_CLOSED;
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
    response->persists = false; /* if it is answered now */
    if (!sink->take(sink, data))
        return false;
    response->persists = persists;
    return true;
}

static enum body_result reject_body(struct conn *conn)
{
    return conn->current->sink ? end_body(conn) : refuse_body(conn, 413);
}

static enum body_result take_body(struct conn *conn)
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
            return reject_body(conn);
        return conn->body_left == 0 ? BODY_DONE : BODY_MORE;
    }
    for (;;) {
        switch (chunked_next(&conn->chunked, &fresh, &data)) {
        case CHUNKED_DATA:
            if (deliver(conn, data))
                break;
            return reject_body(conn);
        case CHUNKED_AGAIN:
            return BODY_MORE;
        case CHUNKED_END:
            input->begin = input->end - fresh.len;
            return BODY_DONE;
        case CHUNKED_BAD:
            return refuse_body(conn, 400);
        }
    }
}

/* Reads on in the body of the current exchange; answers when it is complete.
 * The head stays where it is, and the body goes to the same place behind it
 * again and again. */
static enum body_result advance_body(struct conn *conn)
{
    struct exchange *exchange = conn->current;
    enum body_result result;
    size_t before;

    if (conn->state != CONN_BODY) {
        result = begin_body(conn);
        if (result != BODY_MORE)
            return result;
    }
    before = conn->input->begin;
    result = take_body(conn);
    if (result == BODY_MORE) {
        exchange->bytes_in += conn->input->end - before;
        conn->input->begin = conn->input->end = conn->body_at;
        conn_enter(conn, CONN_BODY);
        if (exchange->sink)
            conn_limit_body(conn);
    } else if (result == BODY_DONE) {
        exchange->bytes_in += conn->input->begin - before;
        exchange->body_bytes = conn->body_bytes;
        conn->current = NULL;
        conn_enter(conn, CONN_READING);
        answer(conn, exchange);
    }
    return result;
}

/* --- Heads -------------------------------------------------------------- */

enum ahead_result {
    AHEAD_GO,    /* look for another request */
    AHEAD_SEND,  /* send what is in the row first */
    AHEAD_READ,  /* nothing more to be had from the buffer */
    AHEAD_CLOSED /* for want of memory */
};

static enum ahead_result parse_request(struct conn *conn)
{
    struct input *input = conn->input;
    struct exchange *exchange = exchange_take(conn->set);
    struct bytes line;
    size_t used;
    unsigned status;

    if (!exchange) {
        conn_close(conn, CONN_END_ERROR);
        return AHEAD_CLOSED;
    }
    switch (http1_parse(&conn->progress, input->data + input->begin,
                        input->end - input->begin, &exchange->request, &used,
                        &status)) {
    case HTTP1_MORE:
        exchange_give(conn->set, exchange);
        return AHEAD_READ;
    case HTTP1_BAD:
        line = exchange->request.line;
        exchange_give(conn->set, exchange);
        return refuse(conn, status, line) ? AHEAD_SEND : AHEAD_CLOSED;
    case HTTP1_DONE:
        break;
    }
    input->begin += used;
    note_arrival(conn, exchange);
    exchange->bytes_in = used;
    conn->head_timed = false;
    begin_response(conn, exchange);
    if (has_body(&exchange->request))
        conn->current = exchange;
    else
        answer(conn, exchange);
    return AHEAD_GO;
}

/* What a trusted proxy says of its client comes once, before all requests. */
static enum ahead_result take_introduction(struct conn *conn)
{
    struct address_count *addresses = conn->set->addresses;
    struct input *input = conn->input;
    struct proxy_protocol proxy;

    switch (proxy_protocol_parse(&proxy,
                                 bytes_between(input->data + input->begin,
                                               input->data + input->end))) {
    case PROXY_PROTOCOL_MORE:
        return AHEAD_READ;
    case PROXY_PROTOCOL_BAD:
        conn_close(conn, CONN_END_ERROR);
        return AHEAD_CLOSED;
    case PROXY_PROTOCOL_DONE:
        break;
    }
    conn->awaits_proxy = false;
    input->begin += proxy.used;
    if (proxy.is_local)
        return AHEAD_GO;
    conn->peer = proxy.source;
    if (addresses &&
        !(conn->ticket = address_count_take(addresses, &conn->peer))) {
        conn_close(conn, CONN_END_LIMIT);
        return AHEAD_CLOSED;
    }
    return AHEAD_GO;
}

/* One request from the buffer into the row. */
static enum ahead_result take_request(struct conn *conn)
{
    const struct input *input = conn->input;

    if (conn->is_closing)
        return AHEAD_SEND;
    if (conn->current) {
        /* What went before is sent first: "100 Continue" must not overtake
         * it, and a body may take its time. */
        if (!list_is_empty(&conn->exchanges))
            return AHEAD_SEND;
        switch (advance_body(conn)) {
        case BODY_MORE:
            return AHEAD_READ;
        case BODY_DONE:
            return AHEAD_GO;
        case BODY_REFUSED:
            return AHEAD_SEND;
        case BODY_CLOSED:
            return AHEAD_CLOSED;
        }
    }
    if (!input || input->begin == input->end)
        return AHEAD_READ;
    if (conn->awaits_proxy) {
        enum ahead_result result = take_introduction(conn);

        if (result != AHEAD_GO || input->begin == input->end)
            return result == AHEAD_GO ? AHEAD_READ : result;
    }
    return parse_request(conn);
}

/* Answers requests from the buffer until it is time to send. Large answers
 * end it, so that they neither pile up nor hold back the small before them. */
static enum ahead_result answer_ahead(struct conn *conn)
{
    unsigned count = 0;
    uint64_t bytes = 0;

    for (;;) {
        enum ahead_result result = take_request(conn);
        const struct response *last;

        if (result != AHEAD_GO)
            return result;
        if (conn->current)
            continue;
        last = &OWNER_OF(conn->exchanges.prev, struct exchange, link)->response;
        bytes += last->bytes_left;
        if (++count == AHEAD_EXCHANGES_MAX || bytes > AHEAD_BYTES_MAX ||
            last->stream)
            return AHEAD_SEND;
        if (conn->input->begin == conn->input->end)
            return AHEAD_SEND;
    }
}

/* --- Going on ------------------------------------------------------------ */

/* Everything is sent: room for what comes next. An incomplete head moves to
 * the front of the buffer, an empty buffer goes back to the pool. */
static void settle(struct conn *conn)
{
    struct input *input = conn->input;

    if (!input || conn->current)
        return;
    if (input->begin == input->end) {
        input_give(conn->set, &conn->input);
    } else if (input->begin > 0) {
        memmove(input->data, input->data + input->begin,
                input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
    }
}

void conn_advance(struct conn *conn)
{
    for (;;) {
        enum stats_phase before = profile_enter(STATS_PHASE_PARSE);
        enum ahead_result result = answer_ahead(conn);

        profile_leave(before);
        if (result == AHEAD_CLOSED)
            return;
        if (!list_is_empty(&conn->exchanges)) {
            if (conn_submit(conn) != CONN_SENT)
                return;
        } else if (result == AHEAD_READ) {
            break;
        }
    }
    settle(conn);
    if (!conn->current)
        conn_enter(conn, CONN_READING);
}

/* What recv(2) says, with errno. */
static ssize_t receive(const struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    struct input *input = conn->input;
    ssize_t n = recv(conn->io.fd, input->data + input->end,
                     INPUT_BYTES - input->end, 0);

    if (n > 0) {
        input->last_ns = now_read_ns();
        if (input->begin == input->end)
            input->first_ns = input->last_ns;
        input->end += (size_t)n;
    }
    profile_leave(before);
    return n;
}

void conn_read(struct conn *conn)
{
    ssize_t n;

    if (!conn->input && !(conn->input = input_take(conn->set))) {
        conn_close(conn, CONN_END_ERROR);
        return;
    }
    n = receive(conn);
    if (n > 0) {
        link_drop(&conn->set->link, &conn->flow); /* it has had its answer */
        drain_drop(&conn->set->drain, conn->io.fd);
        conn_advance(conn);
    } else if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
        settle(conn);
        conn_enter(conn, conn->current ? CONN_BODY : CONN_READING);
    } else {
        conn_close(conn, n == 0 ? CONN_END_CLIENT : CONN_END_ERROR);
    }
}
