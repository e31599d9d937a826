#include "http/body_reader.h"

#include <assert.h>

void body_reader_init(struct body_reader *reader, enum body_framing framing,
                      uint64_t length)
{
    *reader = (struct body_reader){.framing = (uint8_t)framing};
    if (framing == BODY_LENGTH)
        reader->left = length;
    chunked_init(&reader->chunked);
}

static enum body_event take_plain(struct body_reader *reader,
                                  struct bytes *input, struct bytes *data_out)
{
    uint64_t plain = body_reader_plain(reader);

    if (plain == 0)
        return BODY_END;
    if (input->len == 0)
        return BODY_AGAIN;
    *data_out = *input;
    if (data_out->len > plain)
        data_out->len = (size_t)plain;
    input->data += data_out->len;
    input->len -= data_out->len;
    body_reader_pass(reader, data_out->len);
    return BODY_DATA;
}

static enum body_event take_chunks(struct body_reader *reader,
                                   struct bytes *input, struct bytes *data_out)
{
    switch (chunked_next(&reader->chunked, input, data_out)) {
    case CHUNKED_AGAIN:
        return BODY_AGAIN;
    case CHUNKED_DATA:
        reader->bytes += data_out->len;
        return BODY_DATA;
    case CHUNKED_END:
        return BODY_END;
    case CHUNKED_BAD:
        break;
    }
    return BODY_BAD;
}

enum body_event body_reader_next(struct body_reader *reader,
                                 struct bytes *input, struct bytes *data_out)
{
    enum body_event event = reader->framing == BODY_CHUNKED
                                ? take_chunks(reader, input, data_out)
                                : take_plain(reader, input, data_out);

    reader->is_done = event == BODY_END || event == BODY_BAD;
    return event;
}

uint64_t body_reader_plain(const struct body_reader *reader)
{
    switch ((enum body_framing)reader->framing) {
    case BODY_LENGTH:
        return reader->left;
    case BODY_UNTIL_CLOSE:
    case BODY_TUNNEL:
        return UINT64_MAX;
    case BODY_NONE:
    case BODY_CHUNKED:
        break;
    }
    return 0;
}

/* While the size of a chunk is being read, chunk_left is the number that the
 * digits read so far make. It is never above the final size. */
uint64_t body_reader_due(const struct body_reader *reader)
{
    return reader->framing == BODY_CHUNKED ? reader->chunked.chunk_left : 0;
}

void body_reader_pass(struct body_reader *reader, uint64_t bytes)
{
    assert(bytes <= body_reader_plain(reader));
    reader->bytes += bytes;
    if (reader->framing == BODY_LENGTH)
        reader->left -= bytes;
}

enum body_event body_reader_finish(struct body_reader *reader)
{
    bool has_ended = reader->framing == BODY_CHUNKED ? reader->is_done
                                                     : reader->left == 0;

    return has_ended ? BODY_END : BODY_BAD;
}
