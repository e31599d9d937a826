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
static bool take_length(struct response *response, size_t bytes, bool is_last)
{
    if (!response->has_length)
        return true;
    if (bytes > response->length_left)
        return false;
    response->length_left -= bytes;
    return !is_last || response->length_left == 0;
}

static void add_lent(struct response *response)
{
    if (response->lent_pipe == -1)
        response_add_memory(response, response->lent);
    else
        response_add_file(response, PART_PIPE, response->lent_pipe, 0,
                          response->lent.len);
}

/* Frames what fill has made: out has room for a chunk's head, then what was
 * appended; or what was lent goes between them. */
static void add_piece(struct response *response, struct buf *out, size_t room,
                      bool is_last)
{
    char size[CHUNK_HEAD_BYTES + 1];
    size_t len = out->len - room + response->lent.len;
    size_t middle = out->len;

    response->body_bytes += len;
    if (response->is_chunked && len > 0) {
        snprintf(size, sizeof(size), "%08x\r\n", (unsigned)len);
        memcpy(out->data, size, CHUNK_HEAD_BYTES);
        room = 0;
        buf_put_literal(out, "\r\n");
    }
    if (response->is_chunked && is_last) {
        buf_put_literal(out, "0\r\n");
        buf_put(out, response->trailer);
        buf_put_literal(out, "\r\n");
    }
    if (out->failed)
        return;
    if (response->lent.len == 0)
        middle = out->len;
    response_add_memory(response,
                        (struct bytes){out->data + room, middle - room});
    add_lent(response);
    response_add_memory(response,
                        (struct bytes){out->data + middle, out->len - middle});
}

/* What it lent is still to be sent. */
static void end_stream(struct response *response)
{
    if (response->lent.len > 0)
        response->spent = response->stream;
    else
        response->stream->destroy(response->stream);
    response->stream = NULL;
}

/* The head's buffer holds the pieces, each framed as one chunk:
 * size CRLF data CRLF. All that went before has been sent. */
bool response_refill(struct response *response)
{
    struct buf *out = &response->head;
    size_t room = response->is_chunked ? CHUNK_HEAD_BYTES : 0;
    size_t most = response->stream->lends ? 0 : RESPONSE_STREAM_BYTES;
    int more;

    assert(response->bytes_left == 0);
    response->part_count = response->part_at = 0;
    out->len = 0;
    if (!buf_reserve(out, most + room + 8))
        return false;
    out->len = room;
    response->lent = (struct bytes){NULL, 0};
    response->lent_pipe = -1;
    more = response->stream->fill(response->stream, out);
    if (more == STREAM_ANSWERED) {
        response->is_waiting = false;
        response_put_error_body(response);
        return true;
    }
    if (more == STREAM_FAILED || out->failed)
        return false;
    response->is_waiting = more == STREAM_LATER;
    if (response->is_waiting)
        response->bytes_before = response->bytes_sent;
    if (!take_length(response, out->len - room + response->lent.len,
                     more == STREAM_END))
        return false;
    add_piece(response, out, room, more == STREAM_END);
    if (more == STREAM_END)
        end_stream(response);
    return !out->failed;
}
