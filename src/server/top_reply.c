#include "server/top_reply.h"

void top_reply_init(struct top_reply *reply)
{
    *reply = (struct top_reply){.state = TOP_REPLY_HEAD};
    buf_init(&reply->head, NULL, 0, TOP_HEAD_BYTES_MAX);
    buf_init(&reply->body, NULL, 0, TOP_REPLY_BYTES_MAX);
    chunked_init(&reply->chunked);
}

void top_reply_fini(struct top_reply *reply)
{
    buf_fini(&reply->head);
    buf_fini(&reply->body);
}

/* Takes a line, which ends in CRLF, off text. False: none is left. */
static bool take_line(struct bytes *text, struct bytes *line_out)
{
    const char *end = text->len > 0 && text->data
                          ? memmem(text->data, text->len, "\r\n", 2)
                          : NULL;

    if (!end || end == text->data)
        return false;
    *line_out = bytes_between(text->data, end);
    text->len -= line_out->len + 2;
    text->data = end + 2;
    return true;
}

/* Digits, at most TOP_REPLY_BYTES_MAX. */
static bool read_length(struct bytes text, uint64_t *length_out)
{
    *length_out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!byte_is_digit(text.data[i]))
            return false;
        *length_out = *length_out * 10 + (uint64_t)(text.data[i] - '0');
        if (*length_out > TOP_REPLY_BYTES_MAX)
            return false;
    }
    return text.len > 0;
}

/* "HTTP/1.1 200 OK": the status; 0: it is no such line. */
static int read_status(struct bytes line)
{
    const char *at = line.data;

    if (line.len < 12 || memcmp(at, "HTTP/1.", 7) != 0 || at[8] != ' ' ||
        (line.len > 12 && at[12] != ' '))
        return 0;
    for (int i = 9; i < 12; i++)
        if (!byte_is_digit(at[i]))
            return 0;
    return (at[9] - '0') * 100 + (at[10] - '0') * 10 + at[11] - '0';
}

/* What the head says of the body. TOP_REPLY_BAD: anything that is unclear. */
static enum top_reply_state read_head(struct top_reply *reply)
{
    struct bytes text = buf_bytes(&reply->head);
    struct bytes line;
    enum top_reply_state state = TOP_REPLY_TO_THE_END;

    if (!take_line(&text, &line) || (reply->status = read_status(line)) < 200)
        return TOP_REPLY_BAD;
    while (take_line(&text, &line)) {
        const char *colon = memchr(line.data, ':', line.len);
        struct bytes name, value;

        if (!colon)
            return TOP_REPLY_BAD;
        name = bytes_between(line.data, colon);
        value = bytes_trim(bytes_between(colon + 1, line.data + line.len));
        if (bytes_ieq(name, BYTES("Content-Length"))) {
            if (state != TOP_REPLY_TO_THE_END ||
                !read_length(value, &reply->left))
                return TOP_REPLY_BAD;
            state = TOP_REPLY_LENGTH;
        } else if (bytes_ieq(name, BYTES("Transfer-Encoding"))) {
            if (state != TOP_REPLY_TO_THE_END ||
                !bytes_ieq(value, BYTES("chunked")))
                return TOP_REPLY_BAD;
            state = TOP_REPLY_CHUNKED;
        }
    }
    if (reply->status == 204 || reply->status == 304 ||
        (state == TOP_REPLY_LENGTH && reply->left == 0))
        return TOP_REPLY_DONE;
    return state;
}

/* Takes the head, or what there is of it, off piece. */
static void take_head(struct top_reply *reply, struct bytes *piece)
{
    static const char end[] = "\r\n\r\n";

    while (piece->len > 0 && reply->state == TOP_REPLY_HEAD) {
        char c = *piece->data;

        buf_put(&reply->head, (struct bytes){piece->data++, 1});
        piece->len--;
        if (c == end[reply->end_bytes])
            reply->end_bytes++;
        else
            reply->end_bytes = c == end[0];
        if (reply->head.failed)
            reply->state = TOP_REPLY_BAD;
        else if (reply->end_bytes == 4)
            reply->state = read_head(reply);
    }
}

static void take_chunks(struct top_reply *reply, struct bytes piece)
{
    struct bytes data;

    for (;;) {
        switch (chunked_next(&reply->chunked, &piece, &data)) {
        case CHUNKED_AGAIN:
            return;
        case CHUNKED_DATA:
            buf_put(&reply->body, data);
            break;
        case CHUNKED_END:
            reply->state = TOP_REPLY_DONE;
            return;
        case CHUNKED_BAD:
            reply->state = TOP_REPLY_BAD;
            return;
        }
    }
}

void top_reply_take(struct top_reply *reply, struct bytes piece)
{
    take_head(reply, &piece);
    switch (reply->state) {
    case TOP_REPLY_LENGTH:
        if (piece.len > reply->left)
            piece.len = reply->left;
        buf_put(&reply->body, piece);
        reply->left -= piece.len;
        if (reply->left == 0)
            reply->state = TOP_REPLY_DONE;
        break;
    case TOP_REPLY_CHUNKED:
        take_chunks(reply, piece);
        break;
    case TOP_REPLY_TO_THE_END:
        buf_put(&reply->body, piece);
        break;
    case TOP_REPLY_HEAD:
    case TOP_REPLY_DONE:
    case TOP_REPLY_BAD:
        break;
    }
    if (reply->body.failed)
        reply->state = TOP_REPLY_BAD;
}

void top_reply_end(struct top_reply *reply)
{
    if (reply->state == TOP_REPLY_TO_THE_END)
        reply->state = TOP_REPLY_DONE;
    else if (reply->state != TOP_REPLY_DONE)
        reply->state = TOP_REPLY_BAD;
}
