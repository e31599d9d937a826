#include <stdlib.h>
#include <sys/random.h>

#include "base/base64.h"
#include "engine/h2/h2_priv.h"

/* --- A whole head -------------------------------------------------------- */

struct decoding {
    struct http2_head *head;
    bool is_excessive;
};

static bool on_field(void *context, struct bytes name, struct bytes value)
{
    struct decoding *decoding = context;

    decoding->is_excessive = !http2_head_add(decoding->head, name, value);
    return !decoding->is_excessive;
}

/* Decodes a header block. Returns false when the connection is over. */
static bool decode(struct h2 *h2, struct bytes block, bool is_trailer)
{
    struct decoding decoding = {.head = &h2->context->head};
    bool is_well;

    http2_head_begin(decoding.head, is_trailer);
    is_well = hpack_decode(h2->decoder, block, on_field, &decoding);
    h2_note_list(h2, decoding.head->list_bytes, decoding.head->line_count);
    if (is_well)
        return true;
    if (decoding.is_excessive)
        h2_lose_calm(h2, STATS_HTTP2_HEADERS);
    else
        h2_fail(h2, HTTP2_COMPRESSION_ERROR);
    return false;
}

/* Makes the Sec-WebSocket-Key that a request for a WebSocket has in
 * HTTP/1.1. */
static void make_socket_key(char key[24])
{
    char random[16] = {0};
    struct buf out;

    (void)!getrandom(random, sizeof(random), GRND_NONBLOCK);
    buf_init(&out, key, 24, 24);
    base64_put(&out, (struct bytes){random, sizeof(random)});
}

/* --- Streams ------------------------------------------------------------- */

/* Keeps the head's text, and sets the members of the stream that depend on the
 * head. Returns false when there is no memory. */
static bool keep_head(struct h2_stream *stream, const struct http2_head *head)
{
    struct h2 *h2 = stream->h2;
    size_t len = http2_text_bytes(head);

    stream->text = h2_take_text(h2->context, len);
    if (!stream->text)
        return false;
    stream->text_len = (uint32_t)len;
    stream->is_extra_text = h2->text_bytes + len > H2_TEXT_BYTES_MAX;
    if (stream->is_extra_text)
        h2->context->extra_text_bytes += stream->text_len;
    *(stream->is_extra_text ? &h2->extra_text_bytes
                            : &h2->text_bytes) += stream->text_len;
    http2_text_store(head, stream->text);
    stream->content_length = head->content_length;
    stream->has_length = head->has_length;
    stream->wants_socket = http2_head_wants_socket(head);
    if (stream->wants_socket)
        stream->has_length = false;
    if (head->has_priority)
        h2_heed_client(h2);
    stream->priority = head->priority;
    for (unsigned i = 0; i < h2->update_count; i++)
        if (h2->updates[i].id == stream->id)
            stream->priority = h2->updates[i].priority;
    return true;
}

/* Whether there is room for the text of a head of `len` bytes. */
static bool has_text_room(const struct h2 *h2, size_t len)
{
    size_t left = H2_EXTRA_TEXT_BYTES_MAX - h2->context->extra_text_bytes;

    return h2->text_bytes + len <= H2_TEXT_BYTES_MAX ||
           (h2->answers > 0 &&
            h2->extra_text_bytes + len <= left / H2_EXTRA_TEXT_PART);
}

static void turn_away(struct h2 *h2, uint32_t id, enum stats_http2_abuse kind)
{
    stats_http2_note_abuse(&h2->session->context->stats->http2, kind);
    h2_put_reset(h2, id, HTTP2_REFUSED_STREAM);
    (void)!h2_spend(h2, kind);
}

/* Called when a stream begins. Sends the first GOAWAY if no further stream may
 * begin. */
static void note_begun(struct h2 *h2)
{
    uint32_t most = h2->session->context->limits.requests_max;

    if (h2->session->context->is_draining ||
        transport_is_worn(&h2->session->transport) ||
        (most > 0 && h2->session->requests + 1 >= most)) {
        if (!h2->session->context->is_draining)
            session_decide_end(h2->session, CONN_END_LIMIT);
        h2_say_goodbye(h2);
    }
}

static void open_stream(struct h2 *h2, uint32_t id, uint64_t bytes, bool ends)
{
    const struct http2_head *head = &h2->context->head;
    char key[24];
    enum reason reason;
    enum http2_verdict verdict;
    struct h2_stream *stream;

    if (head->protocol.data)
        make_socket_key(key);
    verdict = http2_head_end(&h2->context->head, ends, key, &reason);
    if (verdict == HTTP2_MALFORMED) {
        h2_punish(h2, id, HTTP2_PROTOCOL_ERROR);
        return;
    }
    if (h2->stream_count >= H2_STREAMS_MAX &&
        h2_stream_count_open(h2) >= H2_STREAMS_MAX) {
        turn_away(h2, id, STATS_HTTP2_STREAMS_OVER);
        return;
    }
    if (!has_text_room(h2, http2_text_bytes(head))) {
        turn_away(h2, id, STATS_HTTP2_MEMORY);
        return;
    }
    stream = h2_stream_open(h2, id);
    if (!stream || !keep_head(stream, head)) {
        h2_put_reset(h2, id, HTTP2_REFUSED_STREAM);
        if (stream)
            h2_stream_free(stream);
        return;
    }
    stream->has_ended = ends;
    stream->bytes_in = bytes;
    stream->read_ns = h2->input->first_ns;
    h2->payload += bytes;
    h2_note_stream(h2);
    note_begun(h2);
    h2_begin(stream, reason);
}

/* Takes the second head of a stream, which ends its body (RFC 9113 8.1). For a
 * stream that asks for a tunnel, which has no body, a second head is an error
 * (8.5). */
static void take_trailer(struct h2_stream *stream, bool ends)
{
    struct h2 *h2 = stream->h2;
    enum reason reason;
    enum http2_verdict verdict = http2_head_end(&h2->context->head, ends, NULL,
                                                &reason);

    if (stream->has_ended || stream->wants_socket || verdict != HTTP2_DONE) {
        h2_punish(h2, stream->id,
                  stream->has_ended ? HTTP2_STREAM_CLOSED
                                    : HTTP2_PROTOCOL_ERROR);
        return;
    }
    h2_end_body(stream);
}

enum { USED_KEPT = 64 };

static void note_used(struct h2 *h2, uint32_t id)
{
    uint32_t steps = (id - h2->last_id) / 2;

    h2->used = steps < USED_KEPT ? h2->used << steps : 0;
    h2->used |= 1;
    h2_forget_resets(h2, id);
    h2->last_id = id;
}

/* Whether the client has opened the stream `id` and not skipped this id (RFC
 * 9113 5.1.1). Returns false if the id is older than the last USED_KEPT ids. */
static bool was_used(const struct h2 *h2, uint32_t id)
{
    uint32_t steps = (h2->last_id - id) / 2;

    return steps < USED_KEPT && (h2->used >> steps & 1);
}

static void take_head(struct h2 *h2, uint32_t id, uint8_t flags,
                      struct bytes block)
{
    struct h2_stream *stream = h2_stream_find(h2, id);
    bool ends = flags & HTTP2_FLAG_END_STREAM;
    bool is_new = id > h2->last_id;

    if (!decode(h2, block, !is_new))
        return;
    if (stream) {
        take_trailer(stream, ends);
    } else if (is_new) {
        note_used(h2, id);
        if (!h2->has_said_last) /* GOAWAY has refused any later stream */
            open_stream(h2, id, HTTP2_FRAME_HEAD + block.len, ends);
    } else if (!h2_may_be_under_way(h2, id)) {
        h2_fail(h2,
                was_used(h2, id) ? HTTP2_STREAM_CLOSED : HTTP2_PROTOCOL_ERROR);
    }
}

/* --- Pieces -------------------------------------------------------------- */

/* Strips a HEADERS payload of the priority fields before its block, and of
 * padding. */
static enum http2_error strip(const struct http2_frame *frame,
                              struct bytes *payload)
{
    const char *end = payload->data + payload->len;
    const char *at = payload->data;
    size_t padding = 0;

    if (frame->flags & HTTP2_FLAG_PADDED) {
        if (at == end)
            return HTTP2_FRAME_SIZE_ERROR;
        padding = (unsigned char)*at++;
    }
    if (frame->flags & HTTP2_FLAG_PRIORITY) {
        if (end - at < 5)
            return HTTP2_FRAME_SIZE_ERROR;
        if ((http2_read32(at) & 0x7FFFFFFF) == frame->stream)
            return HTTP2_PROTOCOL_ERROR;
        at += 5;
    }
    if ((size_t)(end - at) < padding)
        return HTTP2_PROTOCOL_ERROR;
    *payload = bytes_between(at, end - padding);
    return HTTP2_NO_ERROR;
}

void h2_take_headers(struct h2 *h2, const struct http2_frame *frame,
                     struct bytes payload)
{
    enum http2_error error = frame->stream % 2 == 0 ? HTTP2_PROTOCOL_ERROR
                                                    : strip(frame, &payload);

    if (error != HTTP2_NO_ERROR) {
        h2_fail(h2, error);
        return;
    }
    if (frame->flags & HTTP2_FLAG_END_HEADERS) {
        take_head(h2, frame->stream, frame->flags, payload);
        return;
    }
    h2->continued = frame->stream;
    h2->continued_flags = frame->flags;
    h2->pieces = 0;
    h2->block.len = 0;
    buf_put(&h2->block, payload);
}

void h2_take_continuation(struct h2 *h2, const struct http2_frame *frame,
                          struct bytes payload)
{
    uint32_t id = h2->continued;

    if (id == 0 || frame->stream != id) {
        h2_fail(h2, HTTP2_PROTOCOL_ERROR);
        return;
    }
    buf_put(&h2->block, payload);
    if (++h2->pieces > H2_BLOCK_PIECES_MAX || h2->block.failed) {
        h2_lose_calm(h2, STATS_HTTP2_CONTINUATION);
        return;
    }
    if (!(frame->flags & HTTP2_FLAG_END_HEADERS))
        return;
    h2->continued = 0;
    take_head(h2, id, h2->continued_flags, buf_bytes(&h2->block));
    buf_fini(&h2->block);
    buf_init(&h2->block, NULL, 0, H2_BLOCK_BYTES_MAX);
}
