#include "engine/h1/h1_priv.h"
#include "observe/profile.h"

static bool takes_no_body(const struct request *request)
{
    return request->method != METHOD_GET && request->method != METHOD_HEAD &&
           request->method != METHOD_OPTIONS;
}

/* Sends 100 Continue. Returns false when the socket did not take it. This means
 * that the connection is broken, since nothing else is being sent that could
 * fill the socket. */
static bool send_continue(const struct h1 *h1)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    bool is_sent = transport_say(&h1->session.transport,
                                 BYTES("HTTP/1.1 100 Continue\r\n\r\n"));

    profile_leave(before);
    return is_sent;
}

/* Stops reading the current body; its response is made already. The connection
 * ends, since nobody knows where the next request begins. */
static enum h1_body end_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    h1->current = NULL;
    h1->client_closes = false;
    h1_expect_last(h1, exchange, CONN_END_ERROR);
    h1_put(h1, exchange);
    return H1_BODY_REFUSED;
}

/* Returns true for a body that is short, of known length, and not held back by
 * the client. Such a body is read to its end soon, and then the next request is
 * found. */
static bool is_soon_over(const struct request *request)
{
    return !request->is_chunked && !request->expects_continue &&
           request->content_length <= H1_DRAINED_BODY_BYTES_MAX;
}

/* Asks the handler whether it wants the body. The handler may answer instead.
 * Then a long body is not read, and the answer is the connection's last. So for
 * a long body `persists` is cleared before the handler is asked, since the head
 * of its answer tells the client. */
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

/* Skips the body of an exchange that was answered without it. If the connection
 * persists, the body is read before the answer is sent; otherwise it is not
 * read. */
static enum h1_body skip_body(struct h1 *h1)
{
    return h1->current->response.persists ? H1_BODY_MORE : end_body(h1);
}

/* Begins an upload: the handler is asked for the answer before the body is
 * read. If the sink is gone after that, a guard has refused the request, and
 * the body is skipped. */
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

/* Goes on to read the body. Sends "100 Continue" first if the client waits for
 * it. */
static enum h1_body go_on(struct h1 *h1)
{
    if (h1->current->request.expects_continue && h1_is_input_empty(h1) &&
        !send_continue(h1)) {
        (void)session_close(&h1->session, CONN_END_ERROR);
        return H1_BODY_CLOSED;
    }
    return H1_BODY_MORE;
}

/* Decides, before the first byte of a body, whether it will be read at all. */
static enum h1_body begin_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;
    const struct request *request = &exchange->request;
    bool takes_none;

    h1_begin_reading(h1, request->is_chunked ? BODY_CHUNKED : BODY_LENGTH);
    if (!request->expects_other)
        offer_body(h1, exchange);
    if (exchange->response.status != 0)
        return skip_body(h1);
    if (exchange->sink && exchange->sink->end)
        return begin_upload(h1);
    if (exchange->sink)
        return go_on(h1);
    takes_none = takes_no_body(request) || exchange->refuses_body;
    /* A client with an unknown expectation may hold its body back until the
     * expectation is met. */
    if (request->expects_other ||
        request->content_length > H1_DRAINED_BODY_BYTES_MAX ||
        (request->expects_continue && takes_none)) {
        h1->current = NULL;
        h1->client_closes = false;
        h1_expect_last(h1, exchange, CONN_END_ERROR);
        if (request->expects_other || takes_none)
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

/* The head stays in the input; each piece of the body is read to the same place
 * behind the head. */
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
    switch (h1_take_body(h1)) {
    case H1_TAKEN_MORE:
        if (exchange->sink)
            h1->until_ms = h1_limit_body(h1);
        return H1_BODY_MORE;
    case H1_TAKEN_ALL:
        h1->has_body = false;
        h1->current = NULL;
        answer_body(h1, exchange);
        return H1_BODY_DONE;
    case H1_TAKEN_NOT:
        return exchange->sink ? end_body(h1)
                              : refuse_body(h1, REASON_BODY_UNWANTED);
    case H1_TAKEN_BAD:
        return refuse_body(h1, REASON_CHUNK);
    }
    return H1_BODY_MORE;
}
