#include <stdlib.h>

#include "base/now.h"
#include "base/units.h"
#include "engine/h2/h2_priv.h"

enum { SMALL_BYTES = 256 };

/* --- Sinks --------------------------------------------------------------- */

/* Throws away the held bytes of an unwanted body and all further ones, and
 * opens the connection's window. */
static void discard(struct h2_stream *stream)
{
    h2_stream_discard(stream);
    h2_give_back(stream->h2, NULL, 0);
}

static bool has_too_much(const struct h2_stream *stream)
{
    const struct exchange *exchange = stream->exchange;

    return exchange->sink->end && exchange->body_max > 0 &&
           stream->received > exchange->body_max;
}

/* Handles a sink's refusal of the body. If the handler waited for the body, the
 * sink has made a response, which is the answer now. If the body is an upload,
 * the answer that has begun goes on. */
static void meet_refusal(struct h2_stream *stream)
{
    bool was_awaited = stream->awaits_body;

    discard(stream);
    if (was_awaited)
        h2_ask(stream);
}

/* Gives `data` to the sink. Returns false when the stream takes no more, or is
 * gone. */
static bool deliver(struct h2_stream *stream, struct bytes data)
{
    struct exchange *exchange = stream->exchange;

    exchange->body_bytes = stream->received;
    if (!stream->is_tunnel && has_too_much(stream)) {
        discard(stream);
        if (!h2_refuse(stream, REASON_BODY_TOO_LARGE))
            h2_reset(stream, HTTP2_CANCEL);
        return false;
    }
    if (data.len < SMALL_BYTES && exchange->sink->end)
        h2_note_piece(stream->h2);
    if (!exchange->sink->take(exchange->sink, data)) {
        meet_refusal(stream);
        return false;
    }
    return true;
}

/* Whether the sink takes bytes now. */
static bool is_taken(const struct h2_stream *stream)
{
    const struct exchange *exchange = stream->exchange;

    return exchange && exchange->sink && !stream->held &&
           (stream->awaits_body || stream->is_uploading) &&
           !exchange->sink->is_full;
}

/* Holds `data` until the sink has room. The stream's window bounds the length
 * of the held bytes. Returns false when there is no memory. */
static bool hold(struct h2_stream *stream, struct bytes data)
{
    char *held = realloc(stream->held, stream->held_len + data.len);

    if (!held)
        return false;
    memcpy(held + stream->held_len, data.data, data.len);
    stream->held = held;
    stream->held_len += (uint32_t)data.len;
    return true;
}

/* Handles the end of the body: asks the handler that waited for it, or ends an
 * upload's sink. */
static void complete(struct h2_stream *stream)
{
    struct exchange *exchange = stream->exchange;

    if (stream->awaits_body) {
        h2_ask(stream);
    } else if (stream->is_uploading) {
        stream->is_uploading = false;
        if (exchange->times.first_ns == 0)
            exchange->times.ready_ns = now_read_ns();
        if (exchange->sink && exchange->sink->end)
            exchange->sink->end(exchange->sink);
    }
}

static void feed_stream(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct bytes data = {stream->held + stream->held_at,
                         stream->held_len - stream->held_at};
    struct exchange *exchange = stream->exchange;

    if (!exchange || !exchange->sink ||
        (!stream->awaits_body && !stream->is_uploading) ||
        exchange->sink->is_full)
        return;
    if (data.len > HTTP2_FRAME_BYTES_MAX)
        data.len = HTTP2_FRAME_BYTES_MAX;
    if (!deliver(stream, data))
        return;
    stream->held_at += (uint32_t)data.len;
    h2_give_taken(h2, stream, (uint32_t)data.len);
    stream->body_since_ms = h2_now_ms(h2); /* the client did not cause the
                                              wait */
    if (stream->held_at < stream->held_len) {
        if (!exchange->sink->is_full)
            h2->has_room = true;
        return;
    }
    free(stream->held);
    stream->held = NULL;
    stream->held_at = stream->held_len = 0;
    if (stream->has_ended)
        complete(stream);
}

void h2_feed(struct h2 *h2)
{
    h2->has_room = false;
    for (struct list *node = h2->streams.next; node != &h2->streams;) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        node = node->next;
        if (stream->held && !stream->is_gone)
            feed_stream(stream);
    }
}

/* --- Frames -------------------------------------------------------------- */

/* Whether the body's length differs from the announced one (RFC 9113 8.1.1). */
static bool is_length_false(const struct h2_stream *stream, bool ends)
{
    return stream->has_length &&
           (stream->received > stream->content_length ||
            (ends && stream->received < stream->content_length));
}

void h2_end_body(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;

    stream->has_ended = true;
    if (is_length_false(stream, true)) {
        h2_punish(h2, stream->id, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (!stream->held && stream->exchange)
        complete(stream);
}

/* Checks DATA for a stream that is not there, or whose body has ended. Returns
 * false when the connection is over. */
static bool meet_stray_data(struct h2 *h2, const struct http2_frame *frame)
{
    struct h2_stream *stream = h2_stream_find(h2, frame->stream);

    if (stream && !stream->has_ended)
        return true;
    if (h2_is_unheard_of(h2, frame->stream)) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return false;
    }
    if (h2_may_be_under_way(h2, frame->stream))
        return true;
    h2_punish(h2, frame->stream, HTTP2_STREAM_CLOSED);
    return !h2->is_over;
}

/* Whether the frame says nothing: it has no byte of a body, and does not end
 * the stream. */
static bool is_empty(const struct h2 *h2, const struct http2_frame *frame)
{
    uint32_t padding = frame->flags & HTTP2_FLAG_PADDED ? h2->padding + 1 : 0;

    return frame->len == padding && !(frame->flags & HTTP2_FLAG_END_STREAM);
}

void h2_begin_data(struct h2 *h2, const struct http2_frame *frame)
{
    struct h2_stream *stream;

    if (frame->len < SMALL_BYTES)
        h2_note_small(h2);
    if (frame->stream == 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if ((int64_t)frame->len > h2->receive_window) {
        h2_fail(h2, HTTP2_FLOW_CONTROL_ERROR);
        return;
    }
    h2->receive_window -= (int32_t)frame->len;
    if (!meet_stray_data(h2, frame))
        return;
    stream = h2_stream_find(h2, frame->stream);
    if (stream && (int64_t)frame->len > stream->receive_window) {
        h2_punish(h2, stream->id, HTTP2_FLOW_CONTROL_ERROR);
        return;
    }
    if (stream) {
        stream->receive_window -= (int32_t)frame->len;
        stream->bytes_in += HTTP2_FRAME_HEAD + frame->len;
    }
    if (is_empty(h2, frame))
        (void)!h2_spend(h2, STATS_HTTP2_EMPTY_FRAMES);
}

void h2_give_padding(struct h2 *h2)
{
    h2_give_back(h2, h2_stream_find(h2, h2->frame.stream), h2->padding + 1);
}

void h2_take_data(struct h2 *h2, struct bytes data)
{
    struct h2_stream *stream = h2_stream_find(h2, h2->frame.stream);

    h2->payload += data.len;
    if (!stream || stream->has_ended) {
        h2_give_back(h2, NULL, (uint32_t)data.len);
        return;
    }
    stream->received += data.len;
    if (h2->session->context->limits.send_rate_min == 0)
        stream->body_since_ms = h2_now_ms(h2); /* any progress is enough */
    if (is_length_false(stream, false)) {
        h2_punish(h2, stream->id, HTTP2_PROTOCOL_ERROR);
        h2_give_back(h2, NULL, (uint32_t)data.len);
        return;
    }
    if (stream->discards) {
        h2_give_back(h2, NULL, (uint32_t)data.len);
    } else if (is_taken(stream)) {
        uint32_t id = stream->id;

        (void)!deliver(stream, data);
        h2_give_taken(h2, h2_stream_find(h2, id), (uint32_t)data.len);
    } else if (!hold(stream, data)) {
        h2_reset(stream, HTTP2_INTERNAL_ERROR);
        h2_give_back(h2, NULL, (uint32_t)data.len);
    }
}

void h2_end_data(struct h2 *h2)
{
    struct h2_stream *stream = h2_stream_find(h2, h2->frame.stream);

    if (stream && !stream->has_ended &&
        (h2->frame.flags & HTTP2_FLAG_END_STREAM))
        h2_end_body(stream);
}

/* The more bytes of a wanted body have come, the longer it may take. */
bool h2_is_body_late(const struct h2_stream *stream)
{
    const struct conn_limits *limits = &stream->h2->session->context->limits;
    const struct exchange *exchange = stream->exchange;
    uint64_t until_ms = stream->body_since_ms + limits->body_ms;

    if (stream->has_ended || stream->is_tunnel || stream->held || !exchange ||
        (!stream->awaits_body && !stream->is_uploading) ||
        (exchange->sink && exchange->sink->is_full))
        return false;
    if (limits->send_rate_min > 0)
        until_ms += stream->received * MS_PER_S / limits->send_rate_min;
    return h2_now_ms(stream->h2) >= until_ms;
}
