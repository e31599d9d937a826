#include "engine/h2/h2_priv.h"
#include "observe/profile.h"

/* --- The next of a stream ------------------------------------------------ */

static void wait_for_handler(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;

    stream->is_waiting = true;
    h2_stream_set_idle(stream, true);
    h2_stream_rest(stream);
    h2_save_room(stream);
    if (!stream->is_tunnel || !exchange->is_half_closed ||
        stream->has_half_ended)
        return;
    stream->has_half_ended = true;
    h2_frame_empty(stream);
}

/* Asks the maker of the answer whether the answer is ready. */
static void look_for_answer(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;
    enum stats_phase before = profile_enter(STATS_PHASE_LOOKUP);
    struct answer answer = exchange->pending->look(exchange->pending);

    if (answer.state == ANSWER_READY)
        response_put_error_body(&exchange->response);
    profile_leave(before);
    switch (answer.state) {
    case ANSWER_LATER:
        exchange->response.bytes_before = exchange->response.bytes_sent;
        wait_for_handler(stream);
        break;
    case ANSWER_INTERIM:
        h2_frame_interim(stream, &answer);
        break;
    /* The answer's turn depends on its length, which is known only now. */
    case ANSWER_READY:
        if (stream->is_uploading && !exchange->sink)
            h2_stream_discard(stream);
        h2_put(stream);
        break;
    }
}

/* Frames the bytes that the source has now. Returns false when the source has
 * none, or when the plan has to be sent before more can be framed. */
static bool frame_pulled(struct h2_stream *stream)
{
    struct response *response = &stream->exchange->response;
    enum stats_phase before;
    bool is_well;

    /* The source has lent earlier bytes that are unsent. */
    if (stream->unsent > 0 && stream->has_data)
        return false;
    before = profile_enter(STATS_PHASE_LOOKUP);
    is_well = exchange_rouse(stream->exchange) &&
              response_pull(response, UINT64_MAX);
    profile_leave(before);
    if (!is_well) {
        h2_reset(stream, HTTP2_INTERNAL_ERROR);
        return true;
    }
    if (response->bytes_left > 0) {
        h2_stream_ready(stream); /* into h2->ready, or into h2->shut */
        return true;
    }
    if (response->has_ended)
        h2_frame_end(stream);
    else if (response->is_waiting)
        wait_for_handler(stream);
    else
        return false; /* other streams go on meanwhile */
    return true;
}

/* Ends a body whose last frame did not say END_STREAM. Returns false when the
 * plan has to be sent first. */
static bool frame_last(struct h2_stream *stream)
{
    const struct response *response = &stream->exchange->response;

    if (stream->unsent > 0 && response->origin.object)
        return false;
    if (h2_is_intact(response))
        h2_frame_end(stream);
    else
        h2_reset(stream, HTTP2_INTERNAL_ERROR);
    return true;
}

/* Lets the stream's handler read what it has held back. If the stock has no
 * room, the handler reads no more than the windows take (a head: at least
 * H2_FRAME_MIN bytes), and the stream goes before all others until what can be
 * sent of that is sent. */
static void begin_reading(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    int64_t most = H2_PLAN_BYTES;

    if (h2_reads_ahead(h2))
        return;
    if (most > stream->window)
        most = stream->window;
    if (most > h2->window)
        most = h2->window;
    if (most < H2_FRAME_MIN && stream->exchange->pending)
        most = H2_FRAME_MIN;
    h2->stock.at_most = (size_t)most;
}

/* Frames the head, a piece of the body, or the end of a stream's answer.
 * Returns false when nothing more can be framed for now. */
static bool frame_next(struct h2_stream *stream, uint64_t room)
{
    const struct response *response = &stream->exchange->response;
    bool is_there;

    if (stream->exchange->is_held_back && response->bytes_left == 0)
        begin_reading(stream);
    if (stream->exchange->pending) {
        if (stream->unsent > 0)
            return false;
        look_for_answer(stream);
        return true;
    }
    if (!stream->has_head)
        is_there = h2_frame_head(stream);
    else if (response->bytes_left > 0)
        is_there = h2_frame_body(stream, room);
    else if (response_has_more(response))
        return frame_pulled(stream);
    else
        return frame_last(stream);
    if (is_there)
        h2_stream_ready(stream);
    return true;
}

/* --- A plan -------------------------------------------------------------- */

static void take_control(struct h2 *h2)
{
    struct h2_plan *plan = &h2->context->plan;
    struct buf *control = &h2->control;

    if (control->len == 0)
        return;
    memcpy(plan->text + plan->text_len, control->data, control->len);
    h2_add_text(plan, NULL, control->len, false);
    buf_fini(control);
    buf_init(control, NULL, 0, H2_CONTROL_BYTES_MAX);
}

static bool has_room(const struct h2_plan *plan)
{
    enum { SEGMENTS = 8, HEADS = HTTP2_FRAME_HEAD * 8 };

    return plan->count + SEGMENTS <= H2_SEGMENTS_MAX &&
           H2_PLAN_TEXT - plan->text_len >= RESPONSE_HEAD_BYTES_MAX + HEADS;
}

/* Chooses the stream whose turn is next: before all others the one that still
 * holds bytes which it has read in its turn. */
static struct h2_stream *choose(const struct h2 *h2)
{
    const struct exchange *holder = h2->stock.holder;
    struct h2_stream *stream = holder ? holder->session : NULL;

    return stream && heap_has(&stream->ready) ? stream : h2_stream_first(h2);
}

void h2_plan_fill(struct h2 *h2, uint64_t budget)
{
    struct h2_plan *plan = &h2->context->plan;
    uint64_t most = budget < H2_PLAN_BYTES ? budget : H2_PLAN_BYTES;

    plan->bytes = plan->text_len = 0;
    plan->at = plan->count = 0;
    plan->ahead.stream = NULL;
    take_control(h2);
    while (plan->bytes < most && has_room(plan) && !h2->is_over) {
        struct h2_stream *stream = choose(h2);
        bool has_framed;

        if (!stream)
            break;
        if (h2_stream_is_shut(stream)) { /* other streams have used up the
                                            window */
            h2_stream_ready(stream);
            continue;
        }
        has_framed = frame_next(stream, most - plan->bytes);
        h2->stock.at_most = 0;
        if (!has_framed)
            break;
    }
}
