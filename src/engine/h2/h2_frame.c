#include <assert.h>
#include <sys/uio.h>

#include "base/now.h"
#include "engine/h2/h2_priv.h"
#include "engine/session_log.h"
#include "http/date.h"

enum {
    SMALL_WINDOW = 256, /* frames cut short by smaller windows count as abuse */
    /* The shortest frame whose bytes go by sendfile(). For a shorter one it is
     * cheaper to read the file and send the bytes together with other
     * frames. */
    SENDFILE_BYTES_MIN = 4096
};

/* --- Segments ------------------------------------------------------------ */

static void add_segment(struct h2_plan *plan, struct h2_segment segment)
{
    assert(plan->count < H2_SEGMENTS_MAX);
    plan->segments[plan->count++] = segment;
    plan->bytes += segment.len;
    if (segment.stream)
        segment.stream->unsent += segment.len;
}

void h2_add_text(struct h2_plan *plan, struct h2_stream *stream, size_t len,
                 bool is_answer)
{
    const char *memory = plan->text + plan->text_len;

    plan->text_len += len;
    add_segment(plan, (struct h2_segment){.stream = stream,
                                          .memory = memory,
                                          .len = (uint32_t)len,
                                          .kind = PART_MEMORY,
                                          .is_text = true,
                                          .is_answer = is_answer});
}

static void add_frame(struct h2_plan *plan, struct h2_stream *stream,
                      const struct http2_frame *frame, bool is_answer)
{
    http2_write_frame(plan->text + plan->text_len, frame);
    h2_add_text(plan, stream, HTTP2_FRAME_HEAD, is_answer);
}

/* --- HEADERS ------------------------------------------------------------- */

static struct bytes date_of(struct h2 *h2)
{
    struct h2_context *context = h2->context;
    const struct now *now = h2->session->context->now;
    struct hpack_field field = {BYTES("date"), {NULL, DATE_LEN}};
    char text[DATE_LEN];
    struct buf out;

    if (context->date_s != now->wall_s || context->date_len == 0) {
        date_format(now->wall_s, text);
        field.value.data = text;
        buf_init(&out, context->date, sizeof(context->date),
                 sizeof(context->date));
        hpack_encode(context->encoder, &field, 1, &out);
        context->date_len = out.failed ? 0 : out.len;
        context->date_s = now->wall_s;
    }
    return (struct bytes){context->date, context->date_len};
}

/* Begins a header block. The first block of a connection says that it uses no
 * dynamic table. */
static struct buf *begin_block(struct h2 *h2)
{
    struct buf *block = &h2->context->block;

    block->len = 0;
    block->failed = false;
    if (!h2->has_block)
        buf_put(block, BYTES(HPACK_NO_TABLE));
    return block;
}

/* Adds a header block to the plan, as one frame or as several. */
static void add_block(struct h2_stream *stream, bool ends)
{
    struct h2_plan *plan = &stream->h2->context->plan;
    const struct buf *block = &stream->h2->context->block;
    struct http2_frame frame = {.type = HTTP2_HEADERS,
                                .flags = ends ? HTTP2_FLAG_END_STREAM : 0,
                                .stream = stream->id};
    size_t at = 0;

    stream->h2->has_block = true;
    do {
        frame.len = (uint32_t)(block->len - at);
        if (frame.len > HTTP2_FRAME_BYTES_MAX)
            frame.len = HTTP2_FRAME_BYTES_MAX;
        if (at + frame.len == block->len)
            frame.flags |= HTTP2_FLAG_END_HEADERS;
        http2_write_frame(plan->text + plan->text_len, &frame);
        memcpy(plan->text + plan->text_len + HTTP2_FRAME_HEAD, block->data + at,
               frame.len);
        h2_add_text(plan, stream, HTTP2_FRAME_HEAD + frame.len, true);
        stream->h2->payload += frame.len;
        at += frame.len;
        frame.type = HTTP2_CONTINUATION;
        frame.flags = 0;
    } while (at < block->len);
}

/* Changes the status of a WebSocket's answer from 101 to 200, which HTTP/2 has
 * instead (RFC 8441 5). Returns false when the answer cannot be sent over
 * HTTP/2; then the stream has been reset or has another answer. */
static bool translate_socket(struct h2_stream *stream)
{
    struct response *response = &stream->exchange->response;

    if (response->status == 101 && stream->wants_socket &&
        stream->exchange->is_tunnel) {
        response->status = 200;
        stream->is_tunnel = stream->is_uploading = true;
        if (stream->held) /* frees room for other streams, too */
            stream->h2->has_room = true;
        return true;
    }
    if (response->status != 101 &&
        (!stream->wants_socket || response->status / 100 != 2))
        return true;
    /* The client would take a 2xx for the beginning of a tunnel. */
    if (!stream->wants_socket || !h2_refuse(stream, REASON_METHOD))
        h2_reset(stream, HTTP2_INTERNAL_ERROR);
    return false;
}

static bool has_body(const struct response *response)
{
    return response->bytes_left > 0 || response_has_more(response);
}

/* A Priority field in the answer overrules the client's priority (RFC 9218
 * 8). */
static void heed_priority(struct h2_stream *stream, struct bytes priority)
{
    if (!priority.data)
        return;
    stream->has_priority = true;
    priority_read(&stream->priority, priority);
}

bool h2_frame_head(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct response *response = &stream->exchange->response;
    struct h2_plan *plan = &h2->context->plan;
    uint64_t begin = plan->bytes;
    struct bytes priority = {NULL, 0};
    struct buf *block;

    if (!translate_socket(stream))
        return false;
    if (h2->session->context->defaults.server_timing)
        session_time_exchange(h2->session, stream->exchange, now_read_ns());
    block = begin_block(h2);
    http2_put_head(h2->context->encoder, response, date_of(h2), block,
                   &priority);
    if (block->failed || block->len > RESPONSE_HEAD_BYTES_MAX) {
        h2_reset(stream, HTTP2_INTERNAL_ERROR);
        return false;
    }
    heed_priority(stream, priority);
    stream->has_head = true;
    h2->is_known = true;
    stream->is_framed = !has_body(response);
    add_block(stream, stream->is_framed);
    response->head_bytes = (uint32_t)(plan->bytes - begin);
    return true;
}

void h2_frame_interim(struct h2_stream *stream, const struct answer *answer)
{
    struct h2 *h2 = stream->h2;
    struct buf *block = begin_block(h2);

    hpack_encode_status(answer->status, block);
    http2_put_lines(h2->context->encoder, answer->fields, block);
    if (!block->failed && block->len <= RESPONSE_HEAD_BYTES_MAX)
        add_block(stream, false);
}

/* --- DATA ---------------------------------------------------------------- */

void h2_frame_empty(struct h2_stream *stream)
{
    add_frame(&stream->h2->context->plan, stream,
              &(struct http2_frame){.type = HTTP2_DATA,
                                    .flags = HTTP2_FLAG_END_STREAM,
                                    .stream = stream->id},
              false);
}

/* Frames trailer fields. Returns false when there are none, or no memory for
 * them. */
static bool frame_trailer(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    struct bytes trailer = stream->exchange->response.trailer;
    struct buf *block;

    if (trailer.len == 0)
        return false;
    block = begin_block(h2);
    http2_put_lines(h2->context->encoder, trailer, block);
    if (block->failed || block->len > RESPONSE_HEAD_BYTES_MAX)
        return false;
    add_block(stream, true);
    return true;
}

void h2_frame_end(struct h2_stream *stream)
{
    stream->is_framed = true;
    h2_stream_rest(stream);
    if (!stream->has_half_ended) {
        if (!frame_trailer(stream))
            h2_frame_empty(stream);
    } else if (stream->unsent == 0) {
        h2_finish(stream);
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns how many bytes of `part` the next frame gets. They are about as many
 * as fit into `room`, unless a window allows less. */
static uint32_t frame_bytes(const struct h2_stream *stream,
                            const struct part *part, uint64_t room)
{
    uint64_t bytes = least(part->len, HTTP2_FRAME_BYTES_MAX);

    room = room > HTTP2_FRAME_HEAD ? room - HTTP2_FRAME_HEAD : 1;
    if (room < H2_FRAME_MIN)
        room = H2_FRAME_MIN;
    if (part->len >= room + H2_FRAME_MIN) /* a shorter rest joins the frame */
        bytes = least(bytes, room);
    bytes = least(bytes, (uint64_t)stream->window);
    return (uint32_t)least(bytes, (uint64_t)stream->h2->window);
}

/* Returns how many bytes of `part` this plan will contain behind the next
 * frame, which has `len` bytes. The result is a guess: another stream may come
 * first. */
static uint64_t count_ahead(const struct h2_stream *stream,
                            const struct part *part, uint32_t len,
                            uint64_t room)
{
    uint64_t most = least(part->len, room + H2_FRAME_MIN);

    most = least(most, (uint64_t)stream->window);
    most = least(most, (uint64_t)stream->h2->window);
    return len == HTTP2_FRAME_BYTES_MAX && most > len ? most - len : 0;
}

/* Reads the payloads of the next frame and of later frames, with gaps for the
 * frames' heads. Returns false when the file is too short, or cannot be
 * read. */
static bool read_ahead(struct h2_plan *plan, const struct h2_stream *stream,
                       const struct part *part, uint32_t len, uint64_t more)
{
    enum { FRAMES_MAX = H2_PLAN_BYTES / HTTP2_FRAME_BYTES_MAX + 1 };
    struct iovec payloads[FRAMES_MAX];
    char *to = plan->text + plan->text_len;
    const char *next = to + len + HTTP2_FRAME_HEAD;
    int count = 0;
    ssize_t n;

    payloads[count++] = (struct iovec){to, len};
    for (to += len; more > 0 && count < FRAMES_MAX; count++) {
        uint64_t bytes = least(more, HTTP2_FRAME_BYTES_MAX);

        to += HTTP2_FRAME_HEAD;
        if (to + bytes > plan->text + H2_PLAN_TEXT)
            break;
        payloads[count] = (struct iovec){to, (size_t)bytes};
        to += bytes;
        more -= bytes;
    }
    n = preadv(part->fd, payloads, count, (off_t)part->at.offset);
    if (n < (ssize_t)len)
        return false;
    plan->ahead = (struct h2_ahead){.stream = stream,
                                    .text = next,
                                    .offset = part->at.offset + len,
                                    .len = (uint64_t)n - len};
    return true;
}

/* Takes a payload of `len` bytes that was read ahead. Returns false when these
 * bytes were not read ahead, or do not lie where the frame's payload is now. */
static bool take_ahead(struct h2_plan *plan, const struct h2_stream *stream,
                       const struct part *part, uint32_t len)
{
    struct h2_ahead *ahead = &plan->ahead;

    if (ahead->stream != stream || ahead->offset != part->at.offset ||
        ahead->text != plan->text + plan->text_len ||
        least(ahead->len, HTTP2_FRAME_BYTES_MAX) < len)
        return false;
    ahead->text += len + HTTP2_FRAME_HEAD;
    ahead->offset += len;
    ahead->len -= len;
    if (len < HTTP2_FRAME_BYTES_MAX) /* later payloads are at wrong places
                                        now */
        ahead->stream = NULL;
    return true;
}

/* Reads bytes of a file to the place behind the frame's head. Returns false
 * when the file is too short, or cannot be read. */
static bool add_read(struct h2_plan *plan, struct h2_stream *stream,
                     const struct part *part, uint32_t len, uint64_t room)
{
    char *to = plan->text + plan->text_len;

    if (!take_ahead(plan, stream, part, len) &&
        !read_ahead(plan, stream, part, len,
                    count_ahead(stream, part, len, room)))
        return false;
    plan->text_len += len;
    add_segment(plan, (struct h2_segment){.stream = stream,
                                          .memory = to,
                                          .offset = part->at.offset,
                                          .fd = part->fd,
                                          .len = len,
                                          .kind = PART_READ,
                                          .is_answer = true});
    return true;
}

/* Whether the next bytes of the file are sent by sendfile(), without being read
 * here. */
static bool is_sent_by_kernel(const struct h2 *h2, const struct part *part,
                              uint32_t len)
{
    return part->kind == PART_SENDFILE && len >= SENDFILE_BYTES_MIN &&
           transport_can_sendfile(&h2->session->transport);
}

static bool add_part(struct h2_plan *plan, struct h2_stream *stream,
                     const struct part *part, uint32_t len, uint64_t room)
{
    struct h2_segment segment = {.stream = stream,
                                 .fd = part->fd,
                                 .len = len,
                                 .kind = (uint8_t)part->kind,
                                 .is_answer = true};

    if (part->kind == PART_MEMORY) {
        segment.memory = part->at.memory;
    } else {
        segment.offset = part->at.offset;
        if (part->kind != PART_PIPE &&
            !is_sent_by_kernel(stream->h2, part, len))
            return add_read(plan, stream, part, len, room);
    }
    add_segment(plan, segment);
    return true;
}

bool h2_is_intact(const struct response *response)
{
    const struct origin *origin = &response->origin;

    return !origin->object || !origin->is_intact ||
           origin->is_intact(origin->object);
}

/* Whether sendfile() sends the bytes of a file that has to be checked. It reads
 * them only after the check, so the file is checked again before the stream
 * ends. */
static bool is_looked_at_later(const struct h2 *h2,
                               const struct response *response,
                               const struct part *part, uint32_t len)
{
    return response->origin.object && response->origin.is_intact &&
           is_sent_by_kernel(h2, part, len);
}

/* Takes segments out of the plan again, so that `count` segments and text_len
 * bytes of text are left. */
static void take_back(struct h2_plan *plan, unsigned count, size_t text_len)
{
    while (plan->count > count) {
        const struct h2_segment *segment = &plan->segments[--plan->count];

        plan->bytes -= segment->len;
        segment->stream->unsent -= segment->len;
    }
    plan->text_len = text_len;
    plan->ahead.stream = NULL; /* the bytes read ahead may be overwritten */
}

bool h2_frame_body(struct h2_stream *stream, uint64_t room)
{
    struct h2 *h2 = stream->h2;
    struct h2_plan *plan = &h2->context->plan;
    struct response *response = &stream->exchange->response;
    struct part part = response->parts[response->part_at];
    uint32_t len = frame_bytes(stream, &part, room);
    bool is_last = len == response->bytes_left &&
                   !response_has_more(response) && response->trailer.len == 0;
    bool is_checked = is_last && !is_looked_at_later(h2, response, &part, len);
    size_t head_at = plan->text_len;
    unsigned segment_at = plan->count;
    struct http2_frame frame = {
        .len = len, .type = HTTP2_DATA, .stream = stream->id};

    if (len < response->bytes_left && len < SMALL_WINDOW &&
        len == (uint64_t)stream->window &&
        !h2_spend_beside(h2, STATS_HTTP2_SMALL_WINDOWS))
        return false;
    add_frame(plan, stream, &frame, false);
    if (!add_part(plan, stream, &part, len, room) ||
        (is_last && !h2_is_intact(response))) {
        take_back(plan, segment_at, head_at);
        h2_reset(stream, HTTP2_INTERNAL_ERROR);
        return false;
    }
    if (is_checked) {
        frame.flags = HTTP2_FLAG_END_STREAM;
        http2_write_frame(plan->text + head_at, &frame);
        stream->is_framed = true;
    }
    stream->has_data = true;
    h2_stream_note_turn(stream, len);
    if (h2->bidder && !h2_stream_candidate(stream).is_stream)
        h2_bid_spend(h2, len);
    stream->window -= (int32_t)len;
    h2->window -= len;
    h2->payload += len;
    response_advance(response, len);
    response->bytes_sent -= len; /* bytes count when they are sent */
    return true;
}
