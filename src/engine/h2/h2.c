#include <stdlib.h>

#include "base/now.h"
#include "engine/h2/h2_priv.h"
#include "observe/profile.h"

enum {
    SESSIONS_KEPT = 64, /* most free sessions that are kept */
    STREAMS_KEPT = 256  /* most free streams, exchanges, rooms or texts kept */
};

/* --- What a worker has of it --------------------------------------------- */

static void init_pools(struct h2_context *context)
{
    pool_init(&context->sessions, sizeof(struct h2), SESSIONS_KEPT);
    pool_init(&context->streams, sizeof(struct h2_stream), STREAMS_KEPT);
    pool_init(&context->exchanges, EXCHANGE_LEAN_BYTES, STREAMS_KEPT);
    pool_init(&context->rooms, sizeof(struct exchange_room), STREAMS_KEPT);
    for (size_t i = 0; i < H2_TEXT_POOLS; i++)
        pool_init(&context->texts[i], (i + 1) * H2_TEXT_STEP - sizeof(size_t),
                  STREAMS_KEPT);
}

static void fini_pools(struct h2_context *context)
{
    pool_fini(&context->sessions);
    pool_fini(&context->streams);
    pool_fini(&context->exchanges);
    pool_fini(&context->rooms);
    for (size_t i = 0; i < H2_TEXT_POOLS; i++)
        pool_fini(&context->texts[i]);
}

struct h2_context *h2_context_create(void)
{
    struct h2_context *context = malloc(sizeof(*context));

    if (!context)
        return NULL;
    init_pools(context);
    buf_init(&context->block, NULL, 0, 2 * RESPONSE_HEAD_BYTES_MAX);
    context->grown_bytes = 0;
    context->extra_count = 0;
    context->extra_text_bytes = 0;
    context->date_len = 0;
    context->encoder = hpack_encoder_create();
    if (context->encoder)
        return context;
    free(context);
    return NULL;
}

void h2_context_destroy(struct h2_context *context)
{
    if (!context)
        return;
    fini_pools(context);
    buf_fini(&context->block);
    hpack_encoder_destroy(context->encoder);
    free(context);
}

bool h2_is_preface(struct bytes line)
{
    return bytes_eq(line, BYTES("PRI * HTTP/2.0"));
}

/* --- Coming -------------------------------------------------------------- */

static bool begin(struct session *session, struct h2 *h2)
{
    memset(h2, 0, sizeof(*h2));
    h2->session = session;
    h2->context = session->context->h2;
    list_init(&h2->streams);
    list_init(&h2->parked);
    list_init(&h2->shut);
    heap_init(&h2->ready);
    buf_init(&h2->control, NULL, 0, H2_CONTROL_BYTES_MAX);
    buf_init(&h2->block, NULL, 0, H2_BLOCK_BYTES_MAX);
    h2->window = h2->client.window = HTTP2_WINDOW_DEFAULT;
    h2->receive_window = H2_CONN_WINDOW;
    h2->receive_size = H2_CONN_WINDOW;
    h2->body_window = H2_STREAM_WINDOW;
    h2->stock.on_rouse = h2_rouse;
    h2->until_ms = h2_now_ms(h2) + session->context->limits.header_ms;
    h2->decoder = hpack_decoder_create();
    return h2->decoder;
}

static void open_session(struct session *session)
{
    struct h2_session *own = OWNER_OF(session, struct h2_session, session);
    struct h2 *h2 = pool_take(&session->context->h2->sessions);

    session->beside = SESSION_TAKES;
    session->overlaps = true;
    own->h2 = NULL;
    if (!h2)
        return;
    if (!begin(session, h2)) {
        pool_give(&session->context->h2->sessions, h2);
        return;
    }
    own->h2 = h2;
    stats_http2_note(&session->context->stats->http2, STATS_HTTP2_CONNECTIONS);
    h2_put_settings(h2);
    h2_put_window(h2, 0, H2_CONN_WINDOW - HTTP2_WINDOW_DEFAULT);
    /* No stream can overtake bytes that are in the socket already. */
    transport_limit_unsent(&session->transport, H2_UNSENT_MAX);
}

static void inherit(struct session *session, struct input *input)
{
    struct h2 *h2 = h2_of(session);

    if (!h2) {
        pool_give(&session->context->inputs, input);
        return;
    }
    h2->input = input;
    h2->bytes_in = input->end - input->begin;
    h2->is_at_work = true;
    h2_take_input(h2);
    h2->is_at_work = false;
}

/* --- Going on ------------------------------------------------------------ */

static bool take_room(struct h2 *h2)
{
    if (h2->input)
        return true;
    h2->input = pool_take(&h2->session->context->inputs);
    if (h2->input)
        h2->input->begin = h2->input->end = 0;
    return h2->input;
}

/* Returns how many bytes the next read may bring: HEADS_BYTES, plus the rest of
 * the present frame's payload. A few bytes of heads may ask for much work, so
 * other connections have their turn after HEADS_BYTES. */
static size_t count_room(const struct h2 *h2)
{
    enum { HEADS_BYTES = 4096 };
    size_t room = INPUT_BYTES - h2->input->end;
    size_t most = HEADS_BYTES + (h2->in_frame ? h2->left : 0);

    return room < most ? room : most;
}

static enum io_result fill_input(struct h2 *h2)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    struct input *input = h2->input;
    size_t len;
    enum io_result result = transport_receive(&h2->session->transport,
                                              input->data + input->end,
                                              count_room(h2), &len);

    if (result == IO_DONE) {
        input->last_ns = now_read_ns();
        if (input->begin == input->end)
            input->first_ns = input->last_ns;
        input->end += len;
        h2->bytes_in += len;
    }
    profile_leave(before);
    return result;
}

static void parse(struct h2 *h2)
{
    enum stats_phase before = profile_enter(STATS_PHASE_PARSE);

    h2->is_at_work = true;
    h2_take_input(h2);
    if (h2->is_over)
        (void)h2_give_up_all(h2);
    h2_begin_parked(h2);
    h2_stream_offer_stock(h2);
    h2->is_at_work = false;
    profile_leave(before);
    if (h2->control.len >= H2_CONTROL_BYTES_REST)
        h2->session->beside = SESSION_RESTS;
}

/* Returns the connection's next step. While the connection sends, the step is
 * STAYS, and on_ready() tells when there may be something else to send. */
static enum session_step go_on(struct h2 *h2)
{
    if (!h2->is_sending)
        return SESSION_GOES_ON;
    if (h2_has_output(h2) || h2->has_room || h2->is_over)
        h2_make_ready(h2);
    return SESSION_STAYS;
}

static void give_empty_input(struct h2 *h2)
{
    if (!h2->input || h2->input->begin < h2->input->end)
        return;
    pool_give(&h2->session->context->inputs, h2->input);
    h2->input = NULL;
}

/* Handles the end of the client's bytes. The client may still receive the
 * answers that it has asked for. */
static enum session_step meet_end(struct h2 *h2)
{
    struct session *session = h2->session;

    if (!transport_was_cut(&session->transport))
        h2_drop_unfinished(h2);
    if (h2->stream_count == 0 || !h2->is_sending ||
        transport_was_cut(&session->transport))
        return session_close(session, CONN_END_CLIENT);
    give_empty_input(h2);
    session_decide_end(session, CONN_END_CLIENT);
    if (!h2->has_said_last)
        h2->last_allowed = h2->last_id;
    h2->has_ended = h2->has_said_last = true;
    h2->silent_ms = h2_now_ms(h2);
    h2->window_then = h2->window;
    session->beside = SESSION_RESTS;
    h2_make_ready(h2); /* sending gives up streams that wait for a window */
    return SESSION_STAYS;
}

static enum session_step receive(struct session *session)
{
    struct h2 *h2 = h2_of(session);

    if (!h2 || !take_room(h2))
        return session_close(session, CONN_END_ERROR);
    if (session->holds_input) {
        parse(h2);
        h2_settle_windows(h2);
        return go_on(h2);
    }
    switch (fill_input(h2)) {
    case IO_DONE:
        if (h2->is_over) { /* input is ignored from now on */
            h2->input->begin = h2->input->end;
            give_empty_input(h2);
            return go_on(h2);
        }
        parse(h2);
        h2_settle_windows(h2);
        return go_on(h2);
    case IO_AGAIN_READ:
    case IO_AGAIN_WRITE:
        give_empty_input(h2);
        return h2->is_sending ? SESSION_STAYS : SESSION_READS;
    case IO_EOF:
        return meet_end(h2);
    case IO_FAILED:
        break;
    }
    return session_close(session, CONN_END_ERROR);
}

static enum session_step advance(struct session *session)
{
    struct h2 *h2 = h2_of(session);

    if (!h2)
        return session_close(session, CONN_END_ERROR);
    if (session->context->is_draining)
        h2_say_goodbye(h2);
    if (h2->has_said_last && h2->stream_count == 0 && !h2->is_over) {
        h2->is_over = true;
        session_decide_end(session, CONN_END_DRAIN);
    }
    if (h2_has_output(h2) || (h2->stream_count > 0 && !h2->is_over)) {
        h2->is_sending = true;
        return SESSION_SENDS;
    }
    return h2->is_over ? SESSION_ENDS : SESSION_READS;
}

/* --- Limits -------------------------------------------------------------- */

static enum session_step expire_reading(struct h2 *h2)
{
    struct session *session = h2->session;

    if (h2->says_goodbye) { /* the PING was not answered */
        h2_say_last(h2);
        return SESSION_GOES_ON;
    }
    session_decide_end(session,
                       h2->has_preface && !h2->input && h2->continued == 0
                           ? CONN_END_IDLE
                           : CONN_END_TIMEOUT);
    h2_say_last(h2);
    h2->is_over = true;
    return SESSION_GOES_ON;
}

/* Asks the socket whether the client is gone. Reading no longer tells, because
 * the client's end has been read already. */
static bool is_client_gone(const struct session *session)
{
    enum transport_peer peer = transport_look(&session->transport);

    return peer == TRANSPORT_PEER_BROKEN || peer == TRANSPORT_PEER_CLOSED;
}

/* Whether a client that sends no more has been sent nothing for a second,
 * because its answer is not ready or its windows are shut. Such a client may
 * have closed its socket, so the connection ends, as over HTTP/1.1. */
static bool listens_in_vain(struct h2 *h2)
{
    if (h2->window_then != h2->window || h2_has_output(h2)) {
        h2->silent_ms = h2_now_ms(h2);
        h2->window_then = h2->window;
    }
    return h2_now_ms(h2) >= h2->silent_ms + SESSION_LOOK_MS;
}

static enum session_step expire(struct session *session)
{
    struct h2 *h2 = h2_of(session);
    bool was_sending;

    if (!h2)
        return session_close(session, CONN_END_ERROR);
    was_sending = h2->is_sending;
    if (!was_sending)
        return expire_reading(h2);
    if (h2->has_ended && (is_client_gone(session) || listens_in_vain(h2)))
        return session_close(session, CONN_END_ERROR);
    h2->is_at_work = true;
    h2_look_at_streams(h2);
    h2_begin_parked(h2);
    h2_stream_offer_stock(h2);
    h2->is_at_work = false;
    return go_on(h2);
}

/* --- Going --------------------------------------------------------------- */

static bool is_idle(const struct session *session)
{
    const struct h2 *h2 = h2_of(session);

    return !h2 || (h2->stream_count == 0 && !h2->input && !h2->rest &&
                   !h2->says_goodbye);
}

/* Sends the first GOAWAY, unless the client has sent no SETTINGS yet. */
static void leave(struct session *session)
{
    struct h2 *h2 = h2_of(session);

    if (!h2 || !h2->has_settings)
        return;
    h2_say_goodbye(h2);
    h2_make_ready(h2);
}

/* Sends GOAWAY, so that a client that has just sent a request learns that the
 * request was not processed. */
static void farewell(struct session *session)
{
    struct h2 *h2 = h2_of(session);
    struct iovec part;
    size_t sent = 0;

    if (!h2 || !h2->has_settings || h2->rest || h2->control.len > 0)
        return;
    h2_say_last(h2);
    if (h2->control.len == 0 || h2->control.failed)
        return;
    part = (struct iovec){h2->control.data, h2->control.len};
    (void)!transport_send(&session->transport, &part, 1, false, &sent);
    h2->control.len = 0;
}

static bool end(struct session *session)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);
    struct h2 *h2 = h2_of(session);
    bool is_broken_off;

    if (!h2)
        return false;
    h2->is_at_work = true;
    h2_drop_rest(h2);
    is_broken_off = h2_give_up_all(h2);
    heap_fini(&h2->ready);
    buf_fini(&h2->control);
    buf_fini(&h2->block);
    h2_forget_windows(h2);
    hpack_decoder_destroy(h2->decoder);
    free(h2->updates);
    pool_give(&session->context->inputs, h2->input);
    pool_give(&h2->context->sessions, h2);
    OWNER_OF(session, struct h2_session, session)->h2 = NULL;
    profile_leave(before);
    return is_broken_off;
}

const struct protocol h2_protocol = {.session_bytes = sizeof(struct h2_session),
                                     .crumb_bytes = H2_FRAME_MIN,
                                     .unsent_max = H2_UNSENT_MAX,
                                     .open = open_session,
                                     .inherit = inherit,
                                     .receive = receive,
                                     .advance = advance,
                                     .candidate = h2_candidate,
                                     .send = h2_send,
                                     .limit = h2_limit,
                                     .expire = expire,
                                     .is_idle = is_idle,
                                     .leave = leave,
                                     .farewell = farewell,
                                     .end = end};
