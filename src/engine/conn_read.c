#include <assert.h>
#include <errno.h>
#include <sys/socket.h>

#include "base/now.h"
#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "http/proxy_protocol.h"
#include "observe/profile.h"

enum {
    /* Answers are made ahead up to so many bytes before they are sent together;
     * and what a connection holds for them, if its client reads nothing, is no
     * more than that either. */
    AHEAD_BYTES_MAX = 65536,
    AHEAD_HELD_MAX = 65536 - sizeof(struct input),
    /* What the next one holds at most, as long as its own head is short. */
    EXCHANGE_BYTES_MAX = sizeof(struct exchange) +
                         REQUEST_FIELDS_MAX * sizeof(struct field),
    LEADING_BYTES_MAX = 2 * HTTP1_LEADING_CRLF_MAX
};

_Static_assert(INPUT_BYTES >= HTTP1_HEAD_BYTES_MAX + LEADING_BYTES_MAX + 1024,
               "a head over its limit must be seen as such");

#define NO_BYTES ((struct bytes){"", 0})

/* --- Answering ---------------------------------------------------------- */

/* Something is wrong with it, and nothing that follows will be understood. */
void conn_expect_last(struct conn *conn, struct exchange *exchange,
                      enum conn_end end)
{
    exchange->response.persists = false;
    conn->is_closing = true;
    conn->end = (uint8_t)end;
}

/* Puts an answered exchange at the end of the row. */
void conn_add_to_row(struct conn *conn, struct exchange *exchange)
{
    if (list_is_empty(&conn->exchanges))
        conn->blocked_ms = 0;
    list_put_last(&conn->exchanges, &exchange->link);
    conn_heed(conn, &exchange->response);
}

/* What comes after it in the buffer was read with its end, or later. */
static void note_arrival(struct conn *conn, struct exchange *exchange)
{
    struct input *input = conn->input;

    exchange->peer = exchange->neighbour = &conn->peer;
    exchange->times = (struct exchange_times){0};
    exchange->keeper.object = NULL;
    exchange->sink = NULL;
    exchange->has_begun = false;
    exchange->is_introduced = conn->is_introduced;
    exchange->is_tunnel = exchange->is_half_closed = false;
    exchange->on_wake = conn_on_wake;
    exchange->conn = conn;
    exchange->body_bytes = 0;
    exchange->body_max = 0;
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
    /* One whose head came in pieces may not have said all. */
    if (!request->keep_alive)
        conn->client_closes = exchange->times.read_ns ==
                              exchange->times.ready_ns;
    if (!response->persists)
        conn_decide_end(conn, !request->keep_alive ? CONN_END_CLIENT
                              : set->is_draining   ? CONN_END_DRAIN
                                                   : CONN_END_LIMIT);
}

void conn_answer_error(struct conn *conn, struct exchange *exchange,
                       unsigned status, bool closes)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);

    if (closes)
        conn_expect_last(conn, exchange,
                         status == 408 ? CONN_END_TIMEOUT : CONN_END_ERROR);
    response_make_error(&exchange->response, status, NO_BYTES,
                        &conn->set->style);
    conn_add_to_row(conn, exchange);
    profile_leave(before);
}

void conn_answer(struct conn *conn, struct exchange *exchange)
{
    const struct handler *handler = &conn->set->handler;
    enum stats_phase before;

    if (exchange->request.expects_other) {
        conn_answer_error(conn, exchange, 417, false);
        return;
    }
    exchange->times.ready_ns = conn->input->last_ns;
    before = profile_enter(STATS_PHASE_LOOKUP);
    handler->answer(handler->self, exchange, exchange->request.path);
    conn_add_to_row(conn, exchange);
    profile_leave(before);
}

static bool begins_with(struct bytes text, struct bytes prefix)
{
    return text.len >= prefix.len &&
           memcmp(text.data, prefix.data, prefix.len) == 0;
}

/* Puts an error as the last answer into the row. False: no memory, closed. */
bool conn_put_refusal(struct conn *conn, unsigned status, struct bytes line)
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
        exchange->request = (struct request){.fields = exchange->request.few,
                                             .line = line};
        response_init(&exchange->response);
        exchange->response.is_timed = conn->set->style.server_timing;
        exchange->response.is_head = begins_with(line, BYTES("HEAD "));
        conn->requests++;
    }
    conn_answer_error(conn, exchange, status, true);
    return true;
}

void conn_refuse(struct conn *conn, unsigned status)
{
    if (conn_put_refusal(conn, status, NO_BYTES))
        conn_advance(conn);
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
        return conn_put_refusal(conn, status, line) ? AHEAD_SEND : AHEAD_CLOSED;
    case HTTP1_DONE:
        break;
    }
    if (!exchange_keep_fields(conn->set, exchange)) {
        exchange_give(conn->set, exchange);
        conn_close(conn, CONN_END_ERROR);
        return AHEAD_CLOSED;
    }
    input->begin += used;
    note_arrival(conn, exchange);
    exchange->bytes_in = used;
    conn->head_timed = false;
    begin_response(conn, exchange);
    if (conn_expects_body(&exchange->request))
        conn->current = exchange;
    else
        conn_answer(conn, exchange);
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
    conn->is_introduced = true;
    if (proxy.is_local)
        return AHEAD_GO;
    /* The loopback of the proxy's machine is another one than ours. */
    if (address_is_local(&proxy.source) && !address_is_local(&conn->peer))
        proxy.source = (struct address){.family = ADDRESS_UNKNOWN};
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
        switch (conn_advance_body(conn)) {
        case CONN_BODY_MORE:
            return AHEAD_READ;
        case CONN_BODY_DONE:
            return AHEAD_GO;
        case CONN_BODY_BESIDE:
        case CONN_BODY_REFUSED:
            return AHEAD_SEND;
        case CONN_BODY_CLOSED:
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
    size_t held = 0;
    uint64_t bytes = 0;

    for (;;) {
        enum ahead_result result = take_request(conn);
        const struct exchange *last;

        if (result != AHEAD_GO)
            return result;
        if (conn->current)
            continue;
        last = OWNER_OF(conn->exchanges.prev, struct exchange, link);
        bytes += last->response.bytes_left;
        held += exchange_bytes(last);
        if (held > AHEAD_HELD_MAX - EXCHANGE_BYTES_MAX ||
            bytes > AHEAD_BYTES_MAX || last->response.stream)
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
