#include "engine/h2/h2_priv.h"

/*
 * With a window smaller than what is under way on a long path, an upload is
 * limited to one window in each round trip. So while a body comes, a PING
 * measures how many bytes come in a round trip. When these are at least half of
 * the window, the window limits the upload now or soon, and is doubled.
 *
 * Bytes that a sink does not take have to be held in memory. So the growth of
 * windows is bounded, for each connection and for all of a worker.
 */
enum {
    /* A body is measured from this many bytes on. Shorter bodies are not
     * measured. */
    MEASURED_AT = 16384,
    /* Most pieces of bodies between two PINGs, while PINGs find that the
     * windows are large enough. */
    REST_MAX = 255
};

static const char measure[8] = "windows";

/* Lets the windows of streams grow to `bytes` bytes. Returns false when they
 * may not grow. */
static bool grow(struct h2 *h2, uint32_t bytes)
{
    struct h2_context *context = h2->context;
    uint32_t more;

    if (bytes > H2_STREAM_WINDOW_MAX)
        bytes = H2_STREAM_WINDOW_MAX;
    if (bytes <= h2->body_window)
        return false;
    more = bytes - h2->body_window;
    if (context->grown_bytes + more > H2_GROWN_BYTES_MAX)
        return false;
    context->grown_bytes += more;
    h2->body_window = bytes;
    return true;
}

void h2_measure(struct h2 *h2, const struct h2_stream *stream, uint32_t len)
{
    if (h2->is_measuring) {
        h2->measured += len;
        return;
    }
    if (stream->received < MEASURED_AT || stream->has_ended ||
        h2->body_window == H2_STREAM_WINDOW_MAX)
        return;
    if (h2->measure_rest > 0) {
        h2->measure_rest--;
        return;
    }
    h2->is_measuring = true;
    h2->measured = len;
    h2_put_frame(h2,
                 &(struct http2_frame){.len = sizeof(measure),
                                       .type = HTTP2_PING},
                 measure);
}

bool h2_end_measure(struct h2 *h2, const char payload[8])
{
    if (!h2->is_measuring || memcmp(payload, measure, sizeof(measure)) != 0)
        return false;
    h2->is_measuring = false;
    if (h2->measured >= h2->body_window / 2 && grow(h2, 2 * h2->body_window))
        h2->measure_pause = 0;
    else if (h2->measure_pause < REST_MAX)
        h2->measure_pause = 2 * h2->measure_pause + 1;
    h2->measure_rest = h2->measure_pause;
    return true;
}

void h2_forget_windows(struct h2 *h2)
{
    h2->context->grown_bytes -= h2->body_window - H2_STREAM_WINDOW;
    h2->body_window = H2_STREAM_WINDOW;
}
