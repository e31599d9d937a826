#include "handler/proxy/proxy_priv.h"

#include <assert.h>

/* --- Room ---------------------------------------------------------------- */

static void resume(struct transfer *transfer)
{
    if (!transfer->is_paused || !transfer->is_open)
        return;
    transfer->is_paused = false;
    upstream_resume(&transfer->lease);
    transfer_watch(transfer);
}

/* Frees the lent bytes. Returns whether there is enough room again. */
static bool reclaim_buffer(struct transfer *transfer)
{
    struct proxy_buffer *in = transfer->in;
    size_t half = transfer->proxy->options.buffer_bytes / 2;

    in->begin = transfer->borrowed_end;
    if (in->begin == in->end) {
        in->begin = in->end = 0;
    } else if (in->begin > half) {
        memmove(in->data, in->data + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    transfer->borrowed_end = in->begin;
    return in->end <= half;
}

/* Makes room: the bytes lent to the response have been sent by now. */
static void reclaim(struct transfer *transfer)
{
    bool has_room = !transfer->in || reclaim_buffer(transfer);

    if (transfer->pipe) {
        has_room = transfer_reclaim_pipe(transfer);
        if (transfer->in && transfer->in->end == 0)
            proxy_buffer_give(transfer->proxy, &transfer->in);
    }
    transfer_note_stock(transfer);
    if (has_room && !transfer->exchange->is_held_back)
        resume(transfer);
}

static bool is_empty(const struct transfer *transfer)
{
    const struct proxy_buffer *in = transfer->in;

    return transfer->piped == 0 && (!in || in->begin == in->end);
}

/* Reads what was held back, since it is the response's turn: up to `at_most`
 * bytes, if the read is bounded at all. */
static void read_held_back(struct transfer *transfer, uint64_t at_most)
{
    struct exchange *exchange = transfer->exchange;

    if (!exchange->is_held_back)
        return;
    exchange->is_held_back = false;
    if (exchange->stock->at_most > at_most)
        exchange->stock->at_most = (size_t)at_most;
    resume(transfer);
    transfer_read(transfer);
    if (transfer->in && transfer->in->end == 0) /* there was nothing */
        transfer_give_in(transfer);
}

/* --- The body ------------------------------------------------------------ */

/* Returns the state of a piece after which no bytes are buffered. */
static enum piece_state state_behind(const struct transfer *transfer)
{
    return transfer->is_reply_done ? PIECE_END : PIECE_MORE;
}

/* Makes a piece from the buffer, whose bytes precede the bytes in the pipe. */
static struct piece memory_piece(struct transfer *transfer, uint64_t at_most)
{
    const struct proxy_buffer *in = transfer->in;
    struct bytes data = {in->data + in->begin, in->end - in->begin};
    bool is_all = data.len <= at_most;

    if (!is_all)
        data.len = (size_t)at_most;
    transfer->borrowed_end = in->begin + data.len;
    return (struct piece){.state = is_all && transfer->piped == 0
                                       ? state_behind(transfer)
                                       : PIECE_MORE,
                          .part = part_of_memory(data)};
}

static struct piece piped_piece(struct transfer *transfer, uint64_t at_most)
{
    struct part part = transfer_lend_pipe(transfer, at_most);

    return (struct piece){.state = part.len == transfer->piped
                                       ? state_behind(transfer)
                                       : PIECE_MORE,
                          .part = part};
}

static struct piece next_piece(struct transfer *transfer, uint64_t at_most)
{
    const struct proxy_buffer *in;

    reclaim(transfer);
    if (is_empty(transfer))
        read_held_back(transfer, at_most);
    in = transfer->in;
    if (in && in->begin < in->end)
        return memory_piece(transfer, at_most);
    if (transfer->piped > 0)
        return piped_piece(transfer, at_most);
    if (transfer->is_broken)
        return (struct piece){.state = PIECE_FAILED};
    transfer_give_in(transfer); /* more bytes may not come for hours */
    transfer->exchange->is_half_closed = transfer->has_peer_ended;
    return (struct piece){.state = transfer->is_reply_done ? PIECE_END
                                                           : PIECE_LATER};
}

/* Returns the part of the upstream's trailer that may be passed on. It is put
 * into the memory of `head`, which is no longer needed. */
static struct bytes read_trailer(struct transfer *transfer)
{
    if (transfer->trailer.len == 0 || transfer->trailer.failed)
        return BYTES("");
    transfer->head.len = 0;
    relay_trailer(buf_bytes(&transfer->trailer), &transfer->head);
    return transfer->head.failed ? BYTES("") : buf_bytes(&transfer->head);
}

struct piece proxy_next(struct source *source, uint64_t at_most)
{
    struct transfer *transfer = OWNER_OF(source, struct transfer, source);
    struct piece piece;

    transfer->refs++;
    piece = next_piece(transfer, at_most);
    if (piece.state == PIECE_END)
        piece.trailer = read_trailer(transfer);
    transfer_release(transfer);
    return piece;
}

void proxy_settle(struct source *source)
{
    struct transfer *transfer = OWNER_OF(source, struct transfer, source);

    reclaim(transfer);
    if (transfer->in && transfer->in->end == 0)
        transfer_give_in(transfer);
}

/* --- The head ------------------------------------------------------------ */

static void answer_fault(struct transfer *transfer)
{
    struct exchange *exchange = transfer->exchange;

    assert(exchange->pending == &transfer->pending);
    exchange->pending = NULL;
    transfer_give_in(transfer);
    if (!exchange_rouse(exchange))
        ; /* no memory for any answer */
    else if (transfer->fault == PROXY_FAULT_INTERCEPTED)
        proxy_answer_intercepted(transfer);
    else
        proxy_answer_fault(transfer->proxy, exchange,
                           (enum proxy_fault)transfer->fault);
    transfer->exchange = NULL;
    transfer_release(transfer);
}

static struct answer take_interim(struct transfer *transfer)
{
    struct bytes text = buf_bytes(&transfer->interim);
    size_t phrase_len = transfer->interim_phrase;
    unsigned status = transfer->interim_status;

    transfer->interim_status = 0;
    return (struct answer){.state = ANSWER_INTERIM,
                           .status = status,
                           .phrase = {text.data, phrase_len},
                           .fields = bytes_between(text.data + phrase_len,
                                                   text.data + text.len)};
}

static struct answer look(struct transfer *transfer)
{
    if (transfer->interim_status == 0 && !transfer->has_reply)
        resume(transfer); /* paused by an interim response, which was sent */
    if (transfer->interim_status == 0)
        read_held_back(transfer, UINT64_MAX);
    if (transfer->in)
        transfer_digest(transfer);
    if (transfer->interim_status != 0)
        return take_interim(transfer);
    if (transfer->is_open && transfer->has_reply)
        transfer_watch(transfer); /* now the body's time limit begins */
    if (!transfer->is_answered && !transfer->fault)
        return (struct answer){.state = ANSWER_LATER};
    if (!transfer->is_answered)
        answer_fault(transfer);
    return (struct answer){.state = ANSWER_READY};
}

struct answer proxy_look(struct pending *pending)
{
    struct transfer *transfer = OWNER_OF(pending, struct transfer, pending);
    struct answer answer;

    transfer->refs++;
    answer = look(transfer);
    transfer_release(transfer);
    return answer;
}
