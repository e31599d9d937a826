#include <stdlib.h>

#include "engine/h2/h2_priv.h"

/* --- SETTINGS ------------------------------------------------------------ */

/* The values that a SETTINGS frame gives to SETTINGS_INITIAL_WINDOW_SIZE, the
 * window with which new streams begin. */
struct window_said {
    bool is_said;
    uint32_t last; /* the last value; only this one counts (RFC 9113 6.5.3) */
    uint32_t most; /* the largest value */
};

/* Moves the windows of open streams when SETTINGS has changed the first window
 * (RFC 9113 6.9.2). One frame can set the first window 2,730 times, so the
 * streams' windows are moved only once for each frame. */
static void move_windows(struct h2 *h2, struct window_said said)
{
    int64_t most = (int64_t)said.most - h2->client.window;
    int64_t difference = (int64_t)said.last - h2->client.window;

    h2->client.window = (int32_t)said.last;
    for (struct list *node = h2->streams.next; node != &h2->streams;
         node = node->next) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        if (stream->window + most > HTTP2_WINDOW_MAX) {
            h2_fail(h2, HTTP2_FLOW_CONTROL_ERROR);
            return;
        }
        stream->window = (int32_t)(stream->window + difference);
        if (heap_has(&stream->ready)) /* its window may be shut now */
            h2_stream_ready(stream);
    }
    h2_stream_reopen_all(h2);
}

static void apply(struct h2 *h2, unsigned setting, uint32_t value,
                  struct window_said *said)
{
    switch (setting) {
    case HTTP2_SETTING_ENABLE_PUSH:
        if (value > 1)
            h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        break;
    case HTTP2_SETTING_NO_RFC7540_PRIORITIES:
        /* Only the first frame may change it (RFC 9218 2.1). */
        if (value > 1 ||
            (h2->client.is_said && value != h2->client.no_priorities))
            h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        h2->client.no_priorities = value == 1;
        break;
    case HTTP2_SETTING_INITIAL_WINDOW_SIZE:
        if (value > HTTP2_WINDOW_MAX) {
            h2_fail(h2, HTTP2_FLOW_CONTROL_ERROR);
            break;
        }
        said->is_said = true;
        said->last = value;
        if (said->most < value)
            said->most = value;
        break;
    case HTTP2_SETTING_MAX_FRAME_SIZE:
        if (value < HTTP2_FRAME_BYTES_MAX || value > 0xFFFFFF)
            h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        break;
    default: /* the setting is unknown or not needed (RFC 9113 6.5.2) */
        break;
    }
}

void h2_take_settings(struct h2 *h2, const struct http2_frame *frame,
                      struct bytes payload)
{
    enum { SETTING_BYTES = 6 };
    bool is_ack = frame->flags & HTTP2_FLAG_ACK;
    struct window_said said = {.is_said = false};

    if (frame->stream != 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (payload.len % SETTING_BYTES != 0 || (is_ack && payload.len > 0)) {
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
        return;
    }
    if (!h2_spend(h2, STATS_HTTP2_SETTINGS) || is_ack)
        return;
    for (size_t at = 0; at < payload.len && !h2->is_over; at += SETTING_BYTES)
        apply(h2,
              (unsigned)(unsigned char)payload.data[at] << 8 |
                  (unsigned char)payload.data[at + 1],
              http2_read32(payload.data + at + 2), &said);
    h2->client.is_said = true;
    if (said.is_said && !h2->is_over)
        move_windows(h2, said);
    if (!h2->is_over)
        h2_put_frame(h2,
                     &(struct http2_frame){.type = HTTP2_SETTINGS,
                                           .flags = HTTP2_FLAG_ACK},
                     NULL);
}

/* --- WINDOW_UPDATE ------------------------------------------------------- */

static void open_connection(struct h2 *h2, uint32_t increment)
{
    bool was_shut;

    if (increment == 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    was_shut = h2->window <= 0;
    h2->window += increment;
    if (h2->window > HTTP2_WINDOW_MAX)
        h2_fail(h2, HTTP2_FLOW_CONTROL_ERROR);
    else if (was_shut || h2->wants_stock) /* streams wait for this window */
        h2_stream_reopen_all(h2);
}

static void open_stream(struct h2_stream *stream, uint32_t increment)
{
    struct h2 *h2 = stream->h2;

    if (increment == 0 ||
        (int64_t)stream->window + increment > HTTP2_WINDOW_MAX) {
        h2_punish(h2, stream->id,
                  increment == 0 ? HTTP2_PROTOCOL_ERROR
                                 : HTTP2_FLOW_CONTROL_ERROR);
        return;
    }
    stream->window += (int32_t)increment;
    if (stream->is_put && !list_is_empty(&stream->wait_node))
        h2_stream_ready(stream);
}

void h2_take_window(struct h2 *h2, const struct http2_frame *frame,
                    struct bytes payload)
{
    struct h2_stream *stream;
    uint32_t increment;

    if (payload.len != 4) {
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
        return;
    }
    if (!h2_spend_beside(h2, STATS_HTTP2_WINDOWS))
        return;
    increment = http2_read32(payload.data) & 0x7FFFFFFF;
    if (frame->stream == 0) {
        open_connection(h2, increment);
        return;
    }
    stream = h2_stream_find(h2, frame->stream);
    if (stream)
        open_stream(stream, increment);
    else if (h2_is_unheard_of(h2, frame->stream))
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
}

/* --- PRIORITY_UPDATE ----------------------------------------------------- */

/* Drops the priorities of streams that have begun, or can begin no more. */
static void forget_updates(struct h2 *h2)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < h2->update_count; i++)
        if (h2->updates[i].id > h2->last_id)
            h2->updates[kept++] = h2->updates[i];
    h2->update_count = kept;
}

/* Returns the place for the priority of a stream that has not begun. Returns
 * NULL when there is no memory, or when the connection has failed: the client
 * may not have more streams, open ones and such ones together, than may be open
 * (RFC 9218 7.1). */
static struct h2_update *claim_update(struct h2 *h2, uint32_t id)
{
    for (uint32_t i = 0; i < h2->update_count; i++)
        if (h2->updates[i].id == id)
            return &h2->updates[i];
    forget_updates(h2);
    if (h2->update_count + h2_stream_count_open(h2) >= H2_STREAMS_MAX) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return NULL;
    }
    if (!h2->updates)
        h2->updates = malloc(H2_STREAMS_MAX * sizeof(*h2->updates));
    return h2->updates ? &h2->updates[h2->update_count++] : NULL;
}

/* Keeps a priority for a stream that has not begun. It overrules the Priority
 * field of the stream's head (RFC 9218 7.1). Without memory the priority is
 * ignored. */
static void keep_update(struct h2 *h2, uint32_t id, struct bytes text)
{
    struct h2_update *update = claim_update(h2, id);

    if (!update)
        return;
    *update = (struct h2_update){.id = id, .priority = PRIORITY_DEFAULT};
    priority_read(&update->priority, text);
}

void h2_take_priority_update(struct h2 *h2, const struct http2_frame *frame,
                             struct bytes payload)
{
    struct h2_stream *stream;
    uint32_t id;

    if (frame->stream != 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (payload.len < 4) {
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
        return;
    }
    if (!h2_spend(h2, STATS_HTTP2_PRIORITIES))
        return;
    id = http2_read32(payload.data) & 0x7FFFFFFF;
    if (id == 0 || id % 2 == 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    h2_heed_client(h2);
    stream = h2_stream_find(h2, id);
    payload = bytes_between(payload.data + 4, payload.data + payload.len);
    if (id > h2->last_id)
        keep_update(h2, id, payload);
    if (!stream || stream->has_priority)
        return;
    stream->priority = PRIORITY_DEFAULT;
    priority_read(&stream->priority, payload);
    if (heap_has(&stream->ready))
        h2_stream_ready(stream);
}

/* --- PING ---------------------------------------------------------------- */

void h2_take_ping(struct h2 *h2, const struct http2_frame *frame,
                  struct bytes payload)
{
    if (frame->stream != 0) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (payload.len != 8) {
        h2_fail(h2, HTTP2_FRAME_SIZE_ERROR);
        return;
    }
    if ((frame->flags & HTTP2_FLAG_ACK) && h2_end_measure(h2, payload.data))
        return;
    if (frame->flags & HTTP2_FLAG_ACK) {
        if (h2_spend(h2, STATS_HTTP2_PINGS) && h2->says_goodbye)
            h2_say_last(h2);
        return;
    }
    if (!h2_spend_beside(h2, STATS_HTTP2_PINGS))
        return;
    h2_put_frame(h2,
                 &(struct http2_frame){
                     .len = 8, .type = HTTP2_PING, .flags = HTTP2_FLAG_ACK},
                 payload.data);
}
