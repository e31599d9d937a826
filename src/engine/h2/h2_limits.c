/*
 * This file decides how long an HTTP/2 connection may wait: for the next
 * request, for the rest of a frame, for a client that takes what is sent, and
 * for a body. h2_abuse.c decides which floods end a connection.
 */
#include "base/units.h"
#include "engine/h2/h2_priv.h"

/* Returns the time until which a connection without open streams waits for a
 * request, or for the rest of a frame. */
static uint64_t limit_reading(struct h2 *h2)
{
    const struct conn_limits *limits = &h2->session->context->limits;
    struct session *session = h2->session;

    if (h2->says_goodbye)
        return h2->goodbye_ms + H2_GOODBYE_MS;
    if (session->requests != h2->limited) {
        h2->limited = session->requests;
        session->since_ms = h2_now_ms(h2);
        h2->until_ms = session->since_ms + limits->keepalive_ms;
    }
    if (h2->input || h2->continued != 0) {
        if (h2->head_until_ms == 0)
            h2->head_until_ms = h2_now_ms(h2) + limits->header_ms;
        return h2->head_until_ms < h2->until_ms ? h2->head_until_ms
                                                : h2->until_ms;
    }
    h2->head_until_ms = 0;
    return h2->until_ms;
}

/* Returns the time until which the socket may stay full. Output may wait for a
 * full socket send_ms in all, and longer the more bytes were sent. */
static uint64_t limit_sending(const struct h2 *h2)
{
    const struct conn_limits *limits = &h2->session->context->limits;
    uint64_t blocked_ms = h2->session->blocked_ms;
    uint64_t allowed;

    if (limits->send_rate_min == 0)
        return h2_now_ms(h2) + limits->send_ms;
    allowed = limits->send_ms + h2->sent * MS_PER_S / limits->send_rate_min;
    if (allowed <= blocked_ms)
        return h2_now_ms(h2);
    allowed -= blocked_ms;
    return h2_now_ms(h2) +
           (allowed < limits->send_ms ? allowed : limits->send_ms);
}

uint64_t h2_limit(struct session *session, enum session_wait wait)
{
    struct h2 *h2 = h2_of(session);

    if (!h2)
        return 0;
    switch (wait) {
    case SESSION_WAIT_READ:
        return limit_reading(h2);
    case SESSION_WAIT_SEND:
        session->since_ms = 0;
        return limit_sending(h2);
    case SESSION_WAIT_ANSWER:
        session->since_ms = 0;
        break;
    }
    if (h2->look_ms == 0)
        h2->look_ms = h2_now_ms(h2) + SESSION_LOOK_MS;
    return h2->look_ms;
}

/* Whether the stream's window has been shut for too long: for send_ms without a
 * break, or in all for longer than send_rate_min allows. */
static bool is_slow(const struct h2_stream *stream)
{
    const struct h2 *h2 = stream->h2;
    const struct conn_limits *limits = &h2->session->context->limits;
    uint64_t waited = stream->shut_ms;
    uint64_t stall = 0;

    if (stream->shut_at_ms != 0)
        stall = h2_now_ms(h2) - stream->shut_at_ms;
    if (!stream->is_put || stall >= limits->send_ms)
        return stream->is_put;
    if (limits->send_rate_min == 0) /* any progress is enough */
        return false;
    return waited + stall >=
           limits->send_ms + stream->exchange->response.bytes_sent * MS_PER_S /
                                 limits->send_rate_min;
}

void h2_look_at_streams(struct h2 *h2)
{
    h2->look_ms = 0;
    if (h2->says_goodbye && h2_now_ms(h2) >= h2->goodbye_ms + H2_GOODBYE_MS)
        h2_say_last(h2);
    for (struct list *node = h2->streams.next; node != &h2->streams;) {
        struct h2_stream *stream = OWNER_OF(node, struct h2_stream, list_node);

        node = node->next;
        if (stream->is_gone)
            continue;
        if (is_slow(stream)) {
            stats_http2_note_abuse(&h2->session->context->stats->http2,
                                   STATS_HTTP2_SLOW);
            h2_reset(stream, HTTP2_CANCEL);
        } else if (h2_is_body_late(stream) &&
                   !h2_refuse(stream, REASON_BODY_TIMEOUT)) {
            h2_reset(stream, HTTP2_CANCEL);
        }
    }
}
