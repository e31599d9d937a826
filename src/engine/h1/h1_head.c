#include "engine/h1/h1_priv.h"
#include "engine/h2/h2.h"
#include "engine/proxy_preamble.h"

enum {
    /* Limits of the answers that are made ahead and sent together:
     * AHEAD_BYTES_MAX for their bytes, AHEAD_HELD_MAX for the memory that they
     * hold while the client reads nothing. */
    AHEAD_BYTES_MAX = 65536,
    AHEAD_HELD_MAX = 65536 - INPUT_BLOCK_BYTES,
    /* The most memory that one more exchange needs when its response's head is
     * short. */
    EXCHANGE_BYTES_MAX = sizeof(struct exchange) +
                         REQUEST_FIELDS_MAX * sizeof(struct field),
    LEADING_BYTES_MAX = 2 * HTTP1_LEADING_CRLF_MAX,
    /* How many requests of one read are answered before other connections have
     * their turn. */
    IN_ROW_MAX = 128
};

_Static_assert(15 * sizeof(struct exchange) <=
                   AHEAD_HELD_MAX - EXCHANGE_BYTES_MAX,
               "sixteen small answers leave together");
_Static_assert(INPUT_BYTES >= HTTP1_HEAD_BYTES_MAX + LEADING_BYTES_MAX + 1024,
               "a head over its limit must be seen as such");

static enum h1_ahead close_for(struct h1 *h1, enum conn_end why)
{
    (void)session_close(&h1->session, why);
    return H1_AHEAD_CLOSED;
}

static enum h1_ahead refuse(struct h1 *h1, enum reason reason,
                            struct bytes line)
{
    return h1_refuse(h1, reason, line) ? H1_AHEAD_SEND
                                       : close_for(h1, CONN_END_ERROR);
}

/* Decides whether the connection persists after `exchange`: the client, the
 * limits and the server have to allow it. */
static void decide_persistence(struct h1 *h1, struct exchange *exchange)
{
    const struct session_context *context = h1_context(h1);
    const struct request *request = &exchange->request;
    uint32_t requests_max = context->limits.requests_max;
    bool has_another = (requests_max == 0 ||
                        h1->session.requests < requests_max) &&
                       !transport_is_worn(&h1->session.transport);

    exchange->response.persists = request->keep_alive &&
                                  !context->is_draining && has_another;
    /* If the head came in pieces, more may be under way. Then client_closes
     * stays unset, and the connection is closed in stages. */
    if (!request->keep_alive)
        h1->client_closes = exchange->times.read_ns == exchange->times.ready_ns;
    if (!exchange->response.persists)
        session_decide_end(&h1->session, !request->keep_alive ? CONN_END_CLIENT
                                         : context->is_draining
                                             ? CONN_END_DRAIN
                                             : CONN_END_LIMIT);
}

static void take_request(struct h1 *h1, struct exchange *exchange, size_t used)
{
    const struct request *request = &exchange->request;

    h1->input->begin += used;
    h1_begin_exchange(h1, exchange);
    exchange->bytes_in = used;
    exchange->response.is_head = request->method == METHOD_HEAD;
    decide_persistence(h1, exchange);
    h1->head_timed = false;
    h1->in_row++;
    if (h1_expects_body(request))
        h1->current = exchange;
    else
        h1_answer(h1, exchange);
}

/* Whether the client begins HTTP/2 in clear text. A client may do so if it
 * knows beforehand that the server speaks HTTP/2 (RFC 9113 3.3). */
static bool speaks_http2(const struct h1 *h1, struct bytes line)
{
    return h1_context(h1)->limits.prior_knowledge &&
           h1->session.requests == 0 && h2_is_preface(line) &&
           line.data == h1->input->data + h1->input->begin;
}

/* Changes the session to HTTP/2, which parses the input from the beginning. */
static enum h1_ahead turn_to_http2(struct h1 *h1)
{
    struct session *session = &h1->session;
    struct input *input;

    if (!h1_widen_input(h1))
        return close_for(h1, CONN_END_ERROR);
    input = h1->input;
    session->protocol = &h2_protocol;
    session->protocol->open(session);
    session->protocol->inherit(session, input);
    return H1_AHEAD_TURNED;
}

/* Whether this request may begin a tunnel, which needs a whole input: a tunnel
 * lasts long and reads into the input of its head. */
static bool may_become_tunnel(const struct request *request)
{
    return request_find(request, FIELD_UPGRADE);
}

static enum h1_ahead parse_request(struct h1 *h1)
{
    struct input *input = h1->input;
    struct exchange *exchange = h1_take_exchange(h1);
    struct bytes line;
    size_t used;
    enum reason reason;

    if (!exchange)
        return close_for(h1, CONN_END_ERROR);
    switch (http1_parse(&h1->progress, input->data + input->begin,
                        input->end - input->begin, &exchange->request, &used,
                        &reason)) {
    case HTTP1_MORE:
        h1_give_exchange(h1, exchange);
        return H1_AHEAD_READ;
    case HTTP1_BAD:
        line = exchange->request.line;
        h1_give_exchange(h1, exchange);
        if (reason == REASON_VERSION && speaks_http2(h1, line))
            return turn_to_http2(h1);
        return refuse(h1, reason, line);
    case HTTP1_DONE:
        break;
    }
    if (__builtin_expect(may_become_tunnel(&exchange->request), 0) &&
        input->room < INPUT_BYTES) {
        h1_give_exchange(h1, exchange);
        if (!list_is_empty(&h1->exchanges)) /* exchanges point into the input */
            return H1_AHEAD_SEND;
        return h1_widen_input(h1) ? parse_request(h1)
                                  : close_for(h1, CONN_END_ERROR);
    }
    if (!h1_keep_fields(h1, exchange)) {
        h1_give_exchange(h1, exchange);
        return close_for(h1, CONN_END_ERROR);
    }
    take_request(h1, exchange, used);
    return H1_AHEAD_GO;
}

/* Takes the preamble by which a trusted proxy names the client. It comes before
 * all requests. */
static enum h1_ahead take_proxy_preamble(struct h1 *h1)
{
    struct session *session = &h1->session;
    struct input *input = h1->input;
    struct proxy_protocol proxy;

    switch (proxy_protocol_parse(&proxy,
                                 bytes_between(input->data + input->begin,
                                               input->data + input->end))) {
    case PROXY_PROTOCOL_MORE:
        return H1_AHEAD_READ;
    case PROXY_PROTOCOL_BAD:
        return close_for(h1, CONN_END_ERROR);
    case PROXY_PROTOCOL_DONE:
        break;
    }
    input->begin += proxy.used;
    if (!proxy_preamble_apply(session, &proxy))
        return close_for(h1, CONN_END_LIMIT);
    return input->begin == input->end ? H1_AHEAD_READ : H1_AHEAD_GO;
}

static enum h1_ahead go_on_with_body(struct h1 *h1)
{
    /* Earlier answers are sent first: "100 Continue" must not overtake them,
     * and a body may take long to come. */
    if (!list_is_empty(&h1->exchanges))
        return H1_AHEAD_SEND;
    switch (h1_advance_body(h1)) {
    case H1_BODY_MORE:
        return H1_AHEAD_READ;
    case H1_BODY_DONE:
        return H1_AHEAD_GO;
    case H1_BODY_BESIDE:
    case H1_BODY_REFUSED:
        return H1_AHEAD_SEND;
    case H1_BODY_CLOSED:
        break;
    }
    return H1_AHEAD_CLOSED;
}

/* Takes one request from the buffer into the pipeline. */
static enum h1_ahead take_next(struct h1 *h1)
{
    if (h1->is_closing)
        return H1_AHEAD_SEND;
    if (h1->current)
        return go_on_with_body(h1);
    if (h1_is_input_empty(h1))
        return H1_AHEAD_READ;
    if (h1->in_row >= IN_ROW_MAX)
        return H1_AHEAD_REST;
    if (h1->session.awaits_proxy) {
        enum h1_ahead result = take_proxy_preamble(h1);

        if (result != H1_AHEAD_GO)
            return result;
    }
    return parse_request(h1);
}

/* Stops after a large answer. So large answers do not pile up, and small
 * answers before a large one are sent without delay. */
enum h1_ahead h1_answer_ahead(struct h1 *h1)
{
    size_t held = 0;
    uint64_t bytes = 0;

    for (;;) {
        enum h1_ahead result = take_next(h1);
        const struct exchange *last;

        if (result != H1_AHEAD_GO)
            return result;
        if (h1->current)
            continue;
        last = OWNER_OF(h1->exchanges.prev, struct exchange, list_node);
        bytes += last->response.bytes_left;
        held += exchange_bytes(last);
        if (held > AHEAD_HELD_MAX - EXCHANGE_BYTES_MAX ||
            bytes > AHEAD_BYTES_MAX || response_has_more(&last->response) ||
            last->pending || h1_is_input_empty(h1))
            return H1_AHEAD_SEND;
    }
}
