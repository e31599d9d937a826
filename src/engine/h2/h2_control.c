#include "engine/h2/h2_priv.h"

/* --- Frames -------------------------------------------------------------- */

void h2_put_frame(struct h2 *h2, const struct http2_frame *frame,
                  const char *payload)
{
    char head[HTTP2_FRAME_HEAD];

    http2_write_frame(head, frame);
    buf_put(&h2->control, (struct bytes){head, sizeof(head)});
    buf_put(&h2->control, (struct bytes){payload, frame->len});
    h2->bytes_out += sizeof(head) + frame->len;
}

static void write_setting(char *to, enum http2_setting setting, uint32_t value)
{
    to[0] = 0;
    to[1] = (char)setting;
    http2_write32(to + 2, value);
}

void h2_put_settings(struct h2 *h2)
{
    enum { SETTING_BYTES = 6, COUNT = 4 };
    char payload[COUNT * SETTING_BYTES];
    char *to = payload;

    write_setting(to, HTTP2_SETTING_MAX_CONCURRENT_STREAMS, H2_STREAMS_MAX);
    write_setting(to += SETTING_BYTES, HTTP2_SETTING_MAX_HEADER_LIST_SIZE,
                  HTTP2_LIST_BYTES_MAX);
    write_setting(to += SETTING_BYTES, HTTP2_SETTING_ENABLE_CONNECT_PROTOCOL,
                  1);
    write_setting(to + SETTING_BYTES, HTTP2_SETTING_NO_RFC7540_PRIORITIES, 1);
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(payload),
                                       .type = HTTP2_SETTINGS},
                 payload);
}

void h2_put_window(struct h2 *h2, uint32_t stream, uint32_t credit)
{
    char payload[4];

    http2_write32(payload, credit);
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(payload),
                                       .type = HTTP2_WINDOW_UPDATE,
                                       .stream = stream},
                 payload);
}

enum { WORD_BITS = 32 };

static uint32_t *word_of(struct h2 *h2, uint32_t stream)
{
    return &h2->resets[stream / 2 % H2_RESETS_KEPT / WORD_BITS];
}

static uint32_t bit_of(uint32_t stream)
{
    return 1u << (stream / 2 % WORD_BITS);
}

static bool is_recent(const struct h2 *h2, uint32_t stream)
{
    return h2->last_id - stream < 2 * H2_RESETS_KEPT;
}

void h2_forget_resets(struct h2 *h2, uint32_t stream)
{
    uint32_t before = h2->last_id | 1;

    if (stream - before >= 2 * H2_RESETS_KEPT)
        before = stream - 2 * H2_RESETS_KEPT;
    for (uint32_t id = before + 2; id <= stream; id += 2)
        *word_of(h2, id) &= ~bit_of(id);
}

void h2_put_reset(struct h2 *h2, uint32_t stream, enum http2_error error)
{
    char payload[4];

    http2_write32(payload, error);
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(payload),
                                       .type = HTTP2_RST_STREAM,
                                       .stream = stream},
                 payload);
    if (is_recent(h2, stream))
        *word_of(h2, stream) |= bit_of(stream);
    else
        h2->old_reset = stream;
    stats_http2_note(&h2->session->context->stats->http2,
                     STATS_HTTP2_RESET_BY_SERVER);
}

bool h2_is_unheard_of(const struct h2 *h2, uint32_t stream)
{
    return stream % 2 == 0 || (stream > h2->last_id && !h2->has_said_last);
}

/* The client may not know yet that the stream was reset, or that the server
 * answers no streams after last_allowed (RFC 9113 5.1 and 6.8). */
bool h2_may_be_under_way(struct h2 *h2, uint32_t stream)
{
    if (h2->has_said_last && stream > h2->last_allowed)
        return true;
    if (is_recent(h2, stream))
        return *word_of(h2, stream) & bit_of(stream);
    return stream == h2->old_reset;
}

static void put_goaway(struct h2 *h2, uint32_t last, enum http2_error error)
{
    char payload[8];

    http2_write32(payload, last);
    http2_write32(payload + 4, error);
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(payload),
                                       .type = HTTP2_GOAWAY},
                 payload);
}

void h2_make_ready(struct h2 *h2)
{
    h2->is_sending = true;
    h2->session->context->hooks->on_ready(h2->session);
}

/* --- The end ------------------------------------------------------------- */

static void end(struct h2 *h2, enum http2_error error, enum conn_end why)
{
    if (h2->is_over)
        return;
    /* Streams after the last allowed one are not answered; the client may have
     * sent these requests elsewhere (RFC 9113 6.8). */
    put_goaway(h2, h2->has_said_last ? h2->last_allowed : h2->last_id, error);
    h2->is_over = true;
    session_decide_end(h2->session, why);
}

void h2_fail(struct h2 *h2, enum http2_error error)
{
    end(h2, error, CONN_END_ERROR);
}

void h2_lose_calm(struct h2 *h2, enum stats_http2_abuse kind)
{
    if (!h2->is_over)
        stats_http2_note_abuse(&h2->session->context->stats->http2, kind);
    end(h2, HTTP2_ENHANCE_YOUR_CALM, CONN_END_LIMIT);
}

/* Sends a PING after the GOAWAY, so that the PING's answer tells that the
 * GOAWAY has arrived. */
void h2_say_goodbye(struct h2 *h2)
{
    static const char payload[8] = "goodbye";

    if (h2->says_goodbye || h2->is_over)
        return;
    h2->says_goodbye = true;
    h2->goodbye_ms = h2_now_ms(h2);
    put_goaway(h2, HTTP2_STREAM_MAX, HTTP2_NO_ERROR);
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(payload),
                                       .type = HTTP2_PING},
                 payload);
}

void h2_say_last(struct h2 *h2)
{
    if (h2->has_said_last || h2->is_over)
        return;
    h2->has_said_last = true;
    h2->last_allowed = h2->last_id;
    put_goaway(h2, h2->last_id, HTTP2_NO_ERROR);
}
