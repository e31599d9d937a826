#include "engine/h2/h2_priv.h"

/* --- Frames that are taken whole ----------------------------------------- */

static void take_reset(struct h2 *h2, const struct http2_frame *frame,
                       struct bytes payload)
{
    struct h2_stream *stream;

    if (h2_is_unheard_of(h2, frame->stream)) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (payload.len != 4) {
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
        return;
    }
    stream = h2_stream_find(h2, frame->stream);
    stats_http2_note(&h2->session->context->stats->http2,
                     STATS_HTTP2_RESET_BY_CLIENT);
    if (stream)
        h2_give_up(stream);
    if (stream || !h2_is_late_reset(h2))
        (void)!h2_spend(h2, STATS_HTTP2_RESETS);
}

/* Checks a PRIORITY frame, which has no effect any more (RFC 9113 5.3.2): its
 * length has to be right, and no stream may depend on itself. */
static enum http2_error check_priority(const struct http2_frame *frame,
                                       struct bytes payload)
{
    if (payload.len != 5)
        return HTTP2_FRAME_SIZE_ERROR;
    return (http2_read32(payload.data) & 0x7FFFFFFF) == frame->stream
               ? HTTP2_PROTOCOL_ERROR
               : HTTP2_NO_ERROR;
}

static void take_priority(struct h2 *h2, const struct http2_frame *frame,
                          struct bytes payload)
{
    enum http2_error error = check_priority(frame, payload);

    if (frame->stream == 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (!h2_spend(h2, STATS_HTTP2_PRIORITIES) || error == HTTP2_NO_ERROR)
        return;
    if (frame->stream > h2->last_id || frame->stream % 2 == 0)
        h2_fail(h2, error); /* there is no stream to reset */
    else
        h2_punish(h2, frame->stream, error);
}

static void take_goaway(struct h2 *h2, const struct http2_frame *frame,
                        struct bytes payload)
{
    if (frame->stream != 0)
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
    else if (payload.len < 8)
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
    else
        (void)!h2_spend(h2, STATS_HTTP2_UNKNOWN_FRAMES);
}

static void take_frame(struct h2 *h2, const struct http2_frame *frame,
                       struct bytes payload)
{
    switch (frame->type) {
    case HTTP2_HEADERS:
        h2_take_headers(h2, frame, payload);
        break;
    case HTTP2_CONTINUATION:
        h2_take_continuation(h2, frame, payload);
        break;
    case HTTP2_PRIORITY:
        take_priority(h2, frame, payload);
        break;
    case HTTP2_RST_STREAM:
        take_reset(h2, frame, payload);
        break;
    case HTTP2_SETTINGS:
        h2_take_settings(h2, frame, payload);
        break;
    case HTTP2_PING:
        h2_take_ping(h2, frame, payload);
        break;
    case HTTP2_GOAWAY:
        take_goaway(h2, frame, payload);
        break;
    case HTTP2_WINDOW_UPDATE:
        h2_take_window(h2, frame, payload);
        break;
    case HTTP2_PRIORITY_UPDATE:
        h2_take_priority_update(h2, frame, payload);
        break;
    case HTTP2_PUSH_PROMISE: /* clients may not push */
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        break;
    default: /* unknown frames are ignored: RFC 9113 5.5 */
        (void)!h2_spend(h2, STATS_HTTP2_UNKNOWN_FRAMES);
        break;
    }
}

/* --- What has come ------------------------------------------------------- */

static struct bytes fresh(const struct h2 *h2)
{
    const struct input *input = h2->input;

    return bytes_between(input->data + input->begin, input->data + input->end);
}

/* Takes the preface. Returns false when the rest of the preface has to come, or
 * when the preface is wrong. */
static bool take_preface(struct h2 *h2)
{
    struct bytes data = fresh(h2);
    size_t len = data.len < HTTP2_PREFACE_BYTES ? data.len
                                                : HTTP2_PREFACE_BYTES;

    if (memcmp(data.data, HTTP2_PREFACE, len) != 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return false;
    }
    if (len < HTTP2_PREFACE_BYTES)
        return false;
    h2->input->begin += len;
    h2->has_preface = true;
    return true;
}

/* Whether a frame of this frame's type may come now. */
static bool is_in_order(const struct h2 *h2, const struct http2_frame *frame)
{
    if (!h2->has_settings)
        return frame->type == HTTP2_SETTINGS &&
               !(frame->flags & HTTP2_FLAG_ACK);
    return h2->continued == 0 || frame->type == HTTP2_CONTINUATION;
}

/* Passes the payload of DATA on as it comes. */
static void take_payload(struct h2 *h2)
{
    struct bytes data = fresh(h2);

    if (data.len > h2->left)
        data.len = h2->left;
    h2->input->begin += data.len;
    h2->left -= (uint32_t)data.len;
    if (h2->left < h2->padding) {
        size_t padding = h2->padding - h2->left;

        if (padding > data.len)
            padding = data.len;
        data.len -= padding;
    }
    if (data.len > 0)
        h2_take_data(h2, data);
    if (h2->left > 0)
        return;
    h2->in_frame = false;
    h2->head_until_ms = 0;
    if (!h2->is_over)
        h2_end_data(h2);
}

/* Begins a DATA frame. Returns false when the byte with the padding's length
 * has not come yet, or the connection is over. */
static bool begin_data(struct h2 *h2, const struct http2_frame *frame)
{
    bool is_padded = frame->flags & HTTP2_FLAG_PADDED;
    struct bytes data = fresh(h2);

    if (is_padded && frame->len > 0 && data.len == HTTP2_FRAME_HEAD)
        return false;
    h2->frame = *frame;
    h2->in_frame = true;
    h2->left = frame->len;
    h2->padding = 0;
    h2->input->begin += HTTP2_FRAME_HEAD;
    if (is_padded) {
        if (frame->len > 0)
            h2->padding = (unsigned char)data.data[HTTP2_FRAME_HEAD];
        if (frame->len == 0 || h2->padding > frame->len - 1) {
            h2_fail(h2, frame->len == 0 ? HTTP2_FRAME_SIZE_ERROR
                                        : HTTP2_PROTOCOL_ERROR);
            return false;
        }
    }
    h2_begin_data(h2, frame);
    if (is_padded && !h2->is_over) {
        h2->input->begin++;
        h2->left--;
        h2_give_padding(h2);
    }
    return true;
}

/* Takes the next frame, or more of a DATA frame. Returns false when the rest of
 * the frame has to come, or the connection is over. */
static bool take_next(struct h2 *h2)
{
    struct bytes data = fresh(h2);
    struct http2_frame frame;

    if (h2->in_frame) {
        take_payload(h2);
        return true;
    }
    if (data.len < HTTP2_FRAME_HEAD)
        return false;
    frame = http2_read_frame(data.data);
    if (frame.len > HTTP2_FRAME_BYTES_MAX) {
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
        return false;
    }
    if (!is_in_order(h2, &frame)) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return false;
    }
    if (frame.type == HTTP2_DATA)
        return begin_data(h2, &frame);
    if (data.len < HTTP2_FRAME_HEAD + frame.len)
        return false;
    h2->has_settings = true;
    h2->input->begin += HTTP2_FRAME_HEAD + frame.len;
    take_frame(h2, &frame,
               (struct bytes){data.data + HTTP2_FRAME_HEAD, frame.len});
    if (h2->continued == 0)
        h2->head_until_ms = 0; /* the next frame has a deadline of its own */
    return true;
}

/* Moves an incomplete frame to the front of the buffer, and gives an empty
 * buffer back to the pool. */
static void settle(struct h2 *h2)
{
    struct input *input = h2->input;

    if (h2->is_over || input->begin == input->end) {
        pool_give(&h2->session->context->inputs, input);
        h2->input = NULL;
    } else if (input->begin > 0) {
        memmove(input->data, input->data + input->begin,
                input->end - input->begin);
        input->end -= input->begin;
        input->begin = 0;
        input->first_ns = input->last_ns;
    }
}

/* Whether other connections have their turn now, although input is left. */
static bool has_had_turn(const struct h2 *h2)
{
    return h2_has_had_turn(h2) && !h2->in_frame;
}

/* Notes whether input is left to take, and whether the session is costly. */
static void note_cost(struct h2 *h2)
{
    struct session *session = h2->session;

    session->holds_input = !h2->is_over && has_had_turn(h2) &&
                           h2->input->begin < h2->input->end;
    session->is_costly = (session->holds_input && h2_was_charged(h2)) ||
                         h2_now_ms(h2) < h2->costly_until_ms;
}

void h2_take_input(struct h2 *h2)
{
    h2->work = h2->charged = 0;
    if (!h2->has_preface && !take_preface(h2)) {
        settle(h2);
        return;
    }
    while (!h2->is_over && !has_had_turn(h2) &&
           (h2->input->begin < h2->input->end ||
            (h2->in_frame && h2->left == 0)) &&
           take_next(h2))
        ;
    if (!h2->is_over && h2->control.len > H2_CONTROL_BYTES_MAX - 1024)
        h2_lose_calm(h2, STATS_HTTP2_UNREAD);
    if (!h2->is_over)
        (void)!h2_is_worth_it(h2);
    note_cost(h2);
    settle(h2);
}
