#include "http/http2/http2_frame.h"

#include <assert.h>
#include <stdlib.h>

#include "http/field.h"
#include "http/http1/http1_frame.h"

enum { NAMES_BYTES = 4096 }; /* room for the names that one call encodes */

/* Fields on their way into a block. */
struct field_batch {
    struct hpack_encoder *encoder;
    struct buf *out;
    struct bytes *priority_out; /* gets the value of Priority; may be NULL */
    size_t count;
    size_t names_len;
    struct hpack_field fields[HPACK_FIELDS_MAX];
    char names[NAMES_BYTES];
};

static void flush(struct field_batch *batch)
{
    hpack_encode(batch->encoder, batch->fields, batch->count, batch->out);
    batch->count = batch->names_len = 0;
}

static bool is_of_connection(struct bytes name)
{
    switch (field_identify(name)) {
    case FIELD_CONNECTION:
    case FIELD_HOP_BY_HOP:
    case FIELD_TRANSFER_ENCODING:
    case FIELD_UPGRADE:
        return true;
    default:
        return false;
    }
}

static void put_field(struct field_batch *batch, struct bytes name,
                      struct bytes value)
{
    char *to;

    if (name.len > NAMES_BYTES || is_of_connection(name) ||
        bytes_ieq(name, BYTES("sec-websocket-accept"))) /* RFC 8441 5 */
        return;
    if (batch->count == HPACK_FIELDS_MAX ||
        name.len > NAMES_BYTES - batch->names_len)
        flush(batch);
    to = batch->names + batch->names_len;
    for (size_t i = 0; i < name.len; i++)
        to[i] = byte_lower(name.data[i]);
    batch->names_len += name.len;
    if (batch->priority_out && bytes_ieq(name, BYTES("priority")))
        *batch->priority_out = bytes_trim(value);
    batch->fields[batch->count++] = (struct hpack_field){{to, name.len},
                                                         bytes_trim(value)};
}

static void put_lines(struct hpack_encoder *encoder, struct bytes lines,
                      struct buf *out, struct bytes *priority_out)
{
    const char *at = lines.data;
    const char *end = lines.data + lines.len;
    struct field_batch batch;

    batch.encoder = encoder;
    batch.out = out;
    batch.priority_out = priority_out;
    batch.count = batch.names_len = 0;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = feed && feed > at && feed[-1] == '\r' ? feed - 1
                                                                     : end;
        const char *colon = memchr(at, ':', (size_t)(line_end - at));

        if (colon)
            put_field(&batch, bytes_between(at, colon),
                      bytes_between(colon + 1, line_end));
        at = feed ? feed + 1 : end;
    }
    flush(&batch);
}

void http2_put_lines(struct hpack_encoder *encoder, struct bytes lines,
                     struct buf *out)
{
    put_lines(encoder, lines, out, NULL);
}

size_t http2_lines_bytes(const struct response *response)
{
    if (!response->has_head || response->part_at == response->part_count)
        return 0; /* memory was short: there are no parts */
    return response->is_borrowed
               ? response->head_bytes
               : (size_t)response->parts[response->part_at].len;
}

/* Takes the lines of the head off the response. */
static struct bytes take_lines(struct response *response)
{
    struct part *part = &response->parts[response->part_at];
    size_t len = http2_lines_bytes(response);
    struct bytes lines = {part->at.memory, len};

    assert(response->has_head && part->kind == PART_MEMORY && len <= part->len);
    if (response->is_borrowed) { /* the empty line is no line of the head */
        lines.data += HTTP1_CACHED_FIELDS_AT;
        lines.len -= HTTP1_CACHED_FIELDS_AT + 2;
    }
    part->at.memory += len;
    part->len -= len;
    response->bytes_left -= len;
    if (part->len == 0)
        response->part_at++;
    return lines;
}

/* Keeps an encoded block for the next time. If memory is short, nothing is
 * kept, and the next time the block is encoded again. */
static void keep(struct coded_head *coded, struct bytes block)
{
    coded->data = malloc(block.len);
    if (!coded->data)
        return;
    memcpy(coded->data, block.data, block.len);
    coded->len = block.len;
}

static void put_fields(struct hpack_encoder *encoder,
                       const struct response *response, struct bytes lines,
                       struct buf *out, struct bytes *priority_out)
{
    struct coded_head *coded = response->coded_head;
    size_t begin = out->len;

    if (coded && coded->data) {
        buf_put(out, (struct bytes){coded->data, coded->len});
        return;
    }
    put_lines(encoder, lines, out, priority_out);
    if (coded && !out->failed && !priority_out->data)
        keep(coded, bytes_between(out->data + begin, out->data + out->len));
}

void http2_put_head(struct hpack_encoder *encoder, struct response *response,
                    struct bytes date, struct buf *out,
                    struct bytes *priority_out)
{
    struct bytes lines = take_lines(response);

    hpack_encode_status(response->status, out);
    if (!response->has_date)
        buf_put(out, date);
    put_fields(encoder, response, lines, out, priority_out);
    if (!response->head_copy)
        return;
    response->head_copy->len = 0;
    buf_put(response->head_copy, lines);
}
