#include <assert.h>

#include "base/now.h"
#include "engine/h1/h1_priv.h"
#include "handler/bad_request.h"

void h1_end_upload(struct h1 *h1)
{
    h1->is_uploading = false;
    h1->current = NULL;
    h1->is_closing = true;
    h1->client_closes = false;
    session_decide_end(&h1->session, CONN_END_ERROR);
    h1_set_beside(h1);
}

/* Whether any byte of the final answer has been sent, not counting interim
 * heads (100, 103) before it. */
static bool has_begun(const struct h1 *h1, const struct exchange *exchange)
{
    const struct response *response = &exchange->response;

    return transport_has_owed(&h1->session.transport) ||
           (response->bytes_sent > 0 &&
            (!exchange->pending || response->bytes_left > 0));
}

/* Fails an upload whose body is invalid, too long or too slow. If nothing of
 * the answer has been sent, a refusal becomes the answer; otherwise the
 * connection is closed. */
static enum session_step fail(struct h1 *h1, enum reason reason,
                              enum conn_end end)
{
    struct exchange *exchange = h1->current;
    struct session *session = &h1->session;

    if (has_begun(h1, exchange))
        return session_close(session, end);
    h1_end_upload(h1);
    h1_expect_last(h1, exchange, end);
    exchange_drop_pending(exchange);
    exchange_drop_sink(exchange);
    bad_request_answer(exchange, reason, &session->context->defaults);
    h1_frame(h1, exchange);
    session->context->hooks->on_change(session, true);
    return SESSION_STAYS;
}

/* Stops reading an upload that nobody wants any more; its answer goes on. */
static void give_up(struct h1 *h1)
{
    struct exchange *exchange = h1->current;

    h1->is_uploading = false;
    h1->current = NULL;
    h1->client_closes = false;
    h1_expect_last(h1, exchange, CONN_END_ERROR);
    h1_set_beside(h1); /* the rest is thrown away when all is sent */
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

static enum session_step go_on(struct h1 *h1, enum h1_taken taken)
{
    switch (taken) {
    case H1_TAKEN_MORE:
        h1_set_beside(h1);
        break;
    case H1_TAKEN_ALL:
        finish(h1);
        break;
    case H1_TAKEN_NOT:
        if (h1_has_too_much(h1))
            return fail(h1, REASON_BODY_TOO_LARGE, CONN_END_ERROR);
        give_up(h1);
        break;
    case H1_TAKEN_BAD:
        return fail(h1, REASON_CHUNK, CONN_END_ERROR);
    }
    return SESSION_STAYS;
}

enum session_step h1_take_upload(struct h1 *h1)
{
    return go_on(h1, h1_take_body(h1));
}

enum session_step h1_take_wide(struct h1 *h1, struct bytes data)
{
    return go_on(h1, h1_take_plain(h1, data));
}

/* A sink that takes many bytes at once gets them from the wide buffer. Each
 * read costs a system call, acknowledgements, and waking the client, however
 * few bytes it brings. A chunked body is always read into the input, where its
 * framing is taken off. */
size_t h1_wide_bytes(const struct h1 *h1)
{
    const struct input *input = h1->input;
    const struct sink *sink = h1->current->sink;
    size_t most = sink ? sink->takes_at_once : 0;
    uint64_t plain = body_reader_plain(&input->body);

    if (most > H1_WIDE_BYTES)
        most = H1_WIDE_BYTES;
    if (most > plain)
        most = (size_t)plain;
    return input->begin == input->end && most > input->room - input->end ? most
                                                                         : 0;
}

enum session_step h1_meet_upload_end(struct h1 *h1)
{
    if (!h1->current->is_tunnel)
        return session_close(&h1->session, CONN_END_CLIENT);
    if (transport_was_cut(&h1->session.transport)) /* the client's last bytes
                                                      may be missing */
        return session_close(&h1->session, CONN_END_ERROR);
    h1->current->body_bytes = h1->input->body.bytes;
    finish(h1);
    return SESSION_STAYS;
}

uint64_t h1_limit_upload(const struct h1 *h1)
{
    /* A silent tunnel has no limit here, since its handler decides how long to
     * wait. Nor has a full sink, since others have to empty it. */
    return h1->session.beside == SESSION_TAKES && !h1_first(h1)->is_tunnel
               ? h1_limit_body(h1)
               : h1_now_ms(h1) + SESSION_LOOK_MS;
}

/* Called when the socket tells that the client has sent its last byte, while
 * earlier bytes may still be unread. A tunnel goes on, and a full sink is told
 * that the end will come. Any other connection is closed. */
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
    /* Both directions may have been shut down in order. */
    case TRANSPORT_PEER_CLOSED:
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
    h1_begin_reading(h1, BODY_TUNNEL);
    return h1_take_upload(h1);
}
