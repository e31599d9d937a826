#include <stdlib.h>

#include "base/now.h"
#include "engine/h1/h1_priv.h"
#include "handler/bad_request.h"
#include "observe/profile.h"

/* --- What comes in beside an answer --------------------------------------- */

static enum session_beside choose_beside(const struct h1 *h1)
{
    if (h1->is_uploading) {
        const struct sink *sink = h1->current->sink;

        return sink && sink->is_full ? SESSION_RESTS : SESSION_TAKES;
    }
    /* When the client of a tunnel has sent its last byte, the upload has ended,
     * but the tunnel goes on. */
    return !list_is_empty(&h1->exchanges) && h1_first(h1)->is_tunnel
               ? SESSION_RESTS
               : SESSION_LEAVES;
}

/* Whether the first answer comes in a moment, even if the client is gone. */
static bool is_sure(const struct h1 *h1)
{
    const struct pending *pending = list_is_empty(&h1->exchanges)
                                        ? NULL
                                        : h1_first(h1)->pending;

    return pending && pending->is_sure;
}

void h1_set_beside(struct h1 *h1)
{
    enum session_beside before = (enum session_beside)h1->session.beside;

    h1->session.beside = (uint8_t)choose_beside(h1);
    h1->session.is_sure = is_sure(h1);
    if (h1->session.beside == SESSION_TAKES && before == SESSION_RESTS)
        h1->input->body_since_ms =
            h1_now_ms(h1); /* the client did not cause the wait */
}

static void on_wake(struct exchange *exchange)
{
    struct session *session = exchange->session;
    struct h1 *h1 = h1_of(session);

    h1_frame(h1, exchange); /* the answer may be there already */
    h1_set_beside(h1);
    session->context->hooks->on_change(session,
                                       !list_is_empty(&h1->exchanges) &&
                                           exchange == h1_first(h1));
}

/* --- The beginning of an exchange ----------------------------------------- */

struct exchange *h1_take_exchange(struct h1 *h1)
{
    struct session_context *context = h1_context(h1);
    struct exchange *exchange = pool_take(&context->exchanges);

    if (!exchange)
        return NULL;
    exchange->request.fields = exchange->room.fields;
    exchange->request.many = context->fields;
    return exchange;
}

bool h1_keep_fields(struct h1 *h1, struct exchange *exchange)
{
    struct session_context *context = h1_context(h1);
    struct field *fields;

    if (exchange->request.fields != context->fields) {
        exchange->request.many = NULL;
        return true;
    }
    fields = exchange_make_fields();
    if (fields)
        context->fields = fields; /* the exchange keeps the old table */
    return fields;
}

void h1_give_exchange(struct h1 *h1, struct exchange *exchange)
{
    if (exchange->request.many != h1_context(h1)->fields)
        free(exchange->request.many);
    pool_give(&h1_context(h1)->exchanges, exchange);
}

/* Notes when the request was read. Bytes that follow the request in the buffer
 * count as read by the last read. */
static void note_arrival(struct h1 *h1, struct exchange *exchange)
{
    struct exchange_times *times = &exchange->times;
    struct input *input = h1->input;

    times->read_ns = input ? input->first_ns : now_read_ns();
    times->ready_ns = input ? input->last_ns : times->read_ns;
    if (input)
        input->first_ns = input->last_ns;
}

void h1_begin_exchange(struct h1 *h1, struct exchange *exchange)
{
    const struct log_needs *needs = &h1_context(h1)->access_log->needs;
    const struct exchange_side side = {
        .peer = &h1->session.peer,
        .is_introduced = h1->session.is_introduced,
        .wants_id = needs->id,
        .wants_upstream = needs->upstream,
        .wants_head = needs->head,
        .on_wake = on_wake,
        .session = &h1->session,
        .tls = h1->session.transport.tls};

    exchange_init(exchange, &side);
    exchange->response.is_timed = h1_context(h1)->defaults.server_timing;
    note_arrival(h1, exchange);
    h1->session.requests++;
}

/* --- Answering ------------------------------------------------------------ */

void h1_expect_last(struct h1 *h1, struct exchange *exchange, enum conn_end end)
{
    exchange->response.persists = false;
    h1->is_closing = true;
    h1->session.end = (uint8_t)end;
}

/* A response does not persist when its body ends with the connection
 * (HTTP/1.0), or when there was no memory for it. */
void h1_heed(struct h1 *h1, const struct exchange *exchange)
{
    if (exchange->response.persists)
        return;
    h1->is_closing = true;
    session_decide_end(&h1->session, h1_speaks_http10(exchange)
                                         ? CONN_END_CLIENT
                                         : CONN_END_ERROR);
}

void h1_put(struct h1 *h1, struct exchange *exchange)
{
    if (list_is_empty(&h1->exchanges))
        h1->session.blocked_ms = 0;
    list_put_last(&h1->exchanges, &exchange->list_node);
    h1_frame(h1, exchange);
    h1_heed(h1, exchange);
}

static void answer_refusal(struct h1 *h1, struct exchange *exchange,
                           enum reason reason, bool as_problem)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);

    bad_request_write(&exchange->response, reason, as_problem,
                      &h1_context(h1)->defaults);
    h1_put(h1, exchange);
    profile_leave(before);
}

void h1_answer_refusal(struct h1 *h1, struct exchange *exchange,
                       enum reason reason)
{
    answer_refusal(h1, exchange, reason,
                   bad_request_wants_problem(&exchange->request));
}

void h1_ask(struct h1 *h1, struct exchange *exchange)
{
    const struct handler *handler = &h1_context(h1)->handler;
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);

    exchange->times.ready_ns = h1->input->last_ns;
    handler->answer(handler->self, exchange, exchange->request.path);
    profile_leave(before);
}

void h1_answer(struct h1 *h1, struct exchange *exchange)
{
    if (exchange->request.expects_other) {
        h1_answer_refusal(h1, exchange, REASON_EXPECTATION);
        return;
    }
    h1_ask(h1, exchange);
    h1_put(h1, exchange);
}

static bool begins_with(struct bytes text, struct bytes prefix)
{
    return text.len >= prefix.len &&
           memcmp(text.data, prefix.data, prefix.len) == 0;
}

/* Whether the client wants problem details. The current exchange says so; when
 * there is no exchange, the head in the input does. */
static bool wants_problem(const struct h1 *h1)
{
    const struct input *input = h1->input;

    if (h1->current)
        return bad_request_wants_problem(&h1->current->request);
    return input && bad_request_wants_problem_in(bytes_between(input->data +
                                                                   input->begin,
                                                               input->data +
                                                                   input->end));
}

bool h1_refuse(struct h1 *h1, enum reason reason, struct bytes line)
{
    struct exchange *exchange = h1->current;
    bool as_problem = wants_problem(h1);

    h1->current = NULL;
    h1->has_body = false;
    h1->client_closes = false;
    if (!exchange) {
        exchange = h1_take_exchange(h1);
        if (!exchange)
            return false;
        h1_begin_exchange(h1, exchange);
        if (h1->input)
            exchange->bytes_in = h1->input->end - h1->input->begin;
        exchange->request = (struct request){.fields = exchange->room.fields,
                                             .line = line};
        exchange->response.is_head = begins_with(line, BYTES("HEAD "));
    }
    h1_expect_last(h1, exchange,
                   reason_status(reason) == 408 ? CONN_END_TIMEOUT
                                                : CONN_END_ERROR);
    answer_refusal(h1, exchange, reason, as_problem);
    return true;
}

void h1_finish_exchange(struct h1 *h1, struct exchange *exchange)
{
    list_drop(&exchange->list_node);
    h1->session.finished++;
    if (access_log_tells(h1_context(h1)->access_log, LOG_EVENT_REQUEST))
        session_log_exchange(&h1->session, exchange);
    if (exchange->response.reason != REASON_NONE)
        session_tell_refusal(&h1->session, exchange);
    session_count_exchange(&h1->session, exchange);
    exchange_fini(exchange);
    h1_give_exchange(h1, exchange);
}
