#include "http/response.h"

#include <assert.h>
#include <stdio.h>

enum { CHUNK_HEAD_BYTES = 10 }; /* eight hex digits and CRLF */

/* A stream that is not sent is done with. */
static void add_head_and_stream(struct response *response,
                                struct stream *stream)
{
    response_add_head(response);
    if (stream && (response->is_head || response->head.failed))
        stream->destroy(stream);
    else
        response->stream = stream;
}

void response_add_stream(struct response *response, struct stream *stream)
{
    response->is_chunked = !response->is_http10;
    if (response->is_chunked)
        head_field(&response->head, BYTES("Transfer-Encoding"),
                   BYTES("chunked"));
    else
        response->persists = false;
    add_head_and_stream(response, stream);
}

void response_add_stream_of(struct response *response, struct stream *stream,
                            uint64_t length)
{
    response->has_length = true;
    response->length_left = length;
    head_number(&response->head, BYTES("Content-Length"), length);
    add_head_and_stream(response, stream);
}

/* Whether what a stream has made is no more than was announced, and all of it
 * when it has ended. */
static bool take_length(struct response *response, size_t bytes, int more)
{
    if (bytes > response->length_left)
        return false;
    response->length_left -= bytes;
    return more != STREAM_END || response->length_left == 0;
}

static void put_last_chunk(const struct response *response, struct buf *out)
{
    buf_put_literal(out, "0\r\n");
    buf_put(out, response->trailer);
    buf_put_literal(out, "\r\n");
}

/* The head's buffer holds the pieces, each framed as one chunk:
 * size CRLF data CRLF. All that went before has been sent. */
bool response_refill(struct response *response)
{
    struct buf *out = &response->head;
    size_t room = response->is_chunked ? CHUNK_HEAD_BYTES : 0;
    char size[CHUNK_HEAD_BYTES + 1];
    int more;

    assert(response->bytes_left == 0);
    response->part_count = response->part_at = 0;
    out->len = 0;
    if (!buf_reserve(out, RESPONSE_STREAM_BYTES + room + 8))
        return false;
    out->len = room;
    more = response->stream->fill(response->stream, out);
    if (more == STREAM_ANSWERED) {
        response->is_waiting = false;
        return true;
    }
    if (more == STREAM_FAILED || out->failed)
        return false;
    response->is_waiting = more == STREAM_LATER;
    if (response->is_waiting)
        response->bytes_before = response->bytes_sent;
    if (response->has_length && !take_length(response, out->len - room, more))
        return false;
    response->body_bytes += out->len - room;
    if (response->is_chunked && out->len > room) {
        snprintf(size, sizeof(size), "%08x\r\n", (unsigned)(out->len - room));
        memcpy(out->data, size, CHUNK_HEAD_BYTES);
        buf_put_literal(out, "\r\n");
        room = 0;
    }
    if (more == STREAM_END) {
        if (response->is_chunked)
            put_last_chunk(response, out);
        response->stream->destroy(response->stream);
        response->stream = NULL;
    }
    if (out->failed)
        return false;
    response_add_memory(response,
                        (struct bytes){out->data + room, out->len - room});
    return true;
}
