#include <assert.h>

#include "base/units.h"
#include "engine/h1/h1_priv.h"

bool h1_has_too_much(const struct h1 *h1)
{
    const struct exchange *exchange = h1->current;

    return exchange->sink && exchange->body_max > 0 &&
           h1->input->body.bytes + body_reader_due(&h1->input->body) >
               exchange->body_max;
}

/* Delivers bytes of the body to its sink. Returns false when no more bytes are
 * wanted. */
static bool deliver(struct h1 *h1, struct bytes data)
{
    struct response *response = &h1->current->response;
    struct sink *sink = h1->current->sink;
    bool persists = response->persists;

    h1->current->body_bytes = h1->input->body.bytes;
    if (!sink)
        return h1->input->body.bytes <= H1_DRAINED_BODY_BYTES_MAX;
    if (sink->end && h1_has_too_much(h1))
        return false;
    response->persists = false; /* an answer that the sink makes now is last */
    if (!sink->take(sink, data))
        return false;
    response->persists = persists;
    return true;
}

/* Checks the length of the chunk that has begun, before its bytes have come.
 * Returns false when the body will be longer than its handler allows. */
static bool foresee(struct h1 *h1)
{
    struct response *response = &h1->current->response;
    struct sink *sink = h1->current->sink;
    uint64_t due = body_reader_due(&h1->input->body);
    bool persists = response->persists;

    if (due == 0)
        return true;
    if (!sink)
        return h1->input->body.bytes + due <= H1_DRAINED_BODY_BYTES_MAX;
    if (sink->end)
        return !h1_has_too_much(h1);
    if (!sink->foresee)
        return true;
    response->persists = false; /* an answer that the sink makes now is last */
    if (!sink->foresee(sink, due))
        return false;
    response->persists = persists;
    return true;
}

/* Takes the framing off the bytes that have come. Joins the data of all chunks,
 * because a sink may need as much time for a chunk of one byte as for a whole
 * read. Returns the first event that is not BODY_DATA. */
static enum body_event unframe(struct h1 *h1, struct bytes *fresh,
                               struct bytes *data_out)
{
    char *to = h1->input->data + h1->input->begin;
    size_t len = 0;
    enum body_event event;
    struct bytes piece;

    while ((event = body_reader_next(&h1->input->body, fresh, &piece)) ==
           BODY_DATA) {
        if (len == 0)
            to = h1->input->data + (piece.data - h1->input->data);
        else
            memmove(to + len, piece.data, piece.len);
        len += piece.len;
    }
    *data_out = (struct bytes){to, len};
    return event;
}

enum h1_taken h1_take_body(struct h1 *h1)
{
    struct exchange *exchange = h1->current;
    struct input *input = h1->input;
    struct bytes fresh = {input->data + input->begin,
                          input->end - input->begin};
    struct bytes data;
    enum body_event event = unframe(h1, &fresh, &data);

    if (event == BODY_BAD)
        return H1_TAKEN_BAD;
    if (data.len > 0 && !deliver(h1, data))
        return H1_TAKEN_NOT;
    if (event == BODY_END) {
        exchange->bytes_in += input->end - input->begin - fresh.len;
        input->begin = input->end - fresh.len;
        return H1_TAKEN_ALL;
    }
    exchange->bytes_in += input->end - input->begin;
    input->begin = input->end = h1->input->body_at;
    return foresee(h1) ? H1_TAKEN_MORE : H1_TAKEN_NOT;
}

enum h1_taken h1_take_plain(struct h1 *h1, struct bytes data)
{
    struct body_reader *reader = &h1->input->body;

    body_reader_pass(reader, data.len);
    h1->current->bytes_in += data.len;
    if (!deliver(h1, data))
        return H1_TAKEN_NOT;
    return body_reader_plain(reader) > 0 ? H1_TAKEN_MORE : H1_TAKEN_ALL;
}

/* --- Room ---------------------------------------------------------------- */

bool h1_widen_input(struct h1 *h1)
{
    struct input *input = h1->input;
    struct input *whole;

    if (input->room == INPUT_BYTES)
        return true;
    whole = pool_take(&h1_context(h1)->inputs);
    if (!whole)
        return false;
    *whole = *input;
    memcpy(whole->data, input->data, input->end);
    whole->room = INPUT_BYTES;
    h1_give_input(h1);
    h1->input = whole;
    h1->reads_much = true;
    return true;
}

/* Whether the input has room for the body behind its head. For a small input
 * this is known only when the body has a length. */
static bool has_room(const struct h1 *h1, enum body_framing framing)
{
    const struct input *input = h1->input;

    if (input->room == INPUT_BYTES)
        return input->begin <= HTTP1_HEAD_BYTES_MAX;
    return framing == BODY_LENGTH &&
           h1->current->request.content_length <= input->room - input->begin;
}

/* Moves the current request to the front of a whole input, so that its body has
 * room behind it. The head is parsed again, because the request points into the
 * input. Without memory for a whole input, the small one is used. */
static void make_room(struct h1 *h1)
{
    struct request *request = &h1->current->request;
    size_t shift = (size_t)(request->line.data - h1->input->data);
    struct input *input;
    enum http1_verdict verdict;
    size_t used;
    enum reason reason;

    (void)!h1_widen_input(h1);
    input = h1->input;
    memmove(input->data, input->data + shift, input->end - shift);
    input->begin -= shift;
    input->end -= shift;
    verdict = http1_parse(&h1->progress, input->data, input->end, request,
                          &used, &reason);
    assert(verdict == HTTP1_DONE && used == input->begin);
}

void h1_begin_reading(struct h1 *h1, enum body_framing framing)
{
    if (!has_room(h1, framing))
        make_room(h1);
    body_reader_init(&h1->input->body, framing,
                     h1->current->request.content_length);
    h1->input->body_at = (uint32_t)h1->input->begin;
    h1->input->body_since_ms = h1_now_ms(h1);
}

/* The more bytes of a wanted body have come, the longer it may take. */
uint64_t h1_limit_body(const struct h1 *h1)
{
    const struct conn_limits *limits = &h1_context(h1)->limits;

    if (limits->send_rate_min == 0) /* any progress is enough */
        return h1_now_ms(h1) + limits->body_ms;
    return h1->input->body_since_ms + limits->body_ms +
           h1->input->body.bytes * MS_PER_S / limits->send_rate_min;
}
