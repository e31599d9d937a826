#include "handler/proxy_priv.h"

/* --- Room ---------------------------------------------------------------- */

/* Whether there is enough room again. */
static bool reclaim_buffer(struct transfer *transfer)
{
    struct proxy_buffer *in = transfer->in;
    size_t half = transfer->proxy->options.buffer_bytes / 2;

    in->begin = transfer->lent;
    if (in->begin == in->end) {
        in->begin = in->end = 0;
    } else if (in->begin > half) {
        memmove(in->data, in->data + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
    }
    transfer->lent = in->begin;
    return in->end <= half;
}

/* What was lent has been sent: room again. */
static void reclaim(struct transfer *transfer)
{
    bool has_room = !transfer->in || reclaim_buffer(transfer);

    if (transfer->pipe) {
        has_room = transfer_reclaim_pipe(transfer);
        if (transfer->in && transfer->in->end == 0)
            proxy_buffer_give(transfer->proxy, &transfer->in);
    }
    if (transfer->is_paused && transfer->is_open && has_room) {
        transfer->is_paused = false;
        upstream_resume(&transfer->ask);
        transfer_watch(transfer);
    }
}

/* --- Filling ------------------------------------------------------------- */

/* All of it has been lent, or more will be. */
static int end_of(struct transfer *transfer)
{
    struct response *response = &transfer->exchange->response;

    if (!transfer->is_reply_done)
        return STREAM_MORE;
    if (response->is_chunked && transfer->trailer.len > 0 &&
        !transfer->trailer.failed) {
        /* head is of no use any more: it makes room for what remains of them */
        transfer->head.len = 0;
        relay_trailer(buf_bytes(&transfer->trailer), &transfer->head);
        if (!transfer->head.failed)
            response->trailer = buf_bytes(&transfer->head);
    }
    return STREAM_END;
}

static int fill_body(struct transfer *transfer)
{
    struct response *response = &transfer->exchange->response;
    const struct proxy_buffer *in;

    reclaim(transfer);
    in = transfer->in;
    if (in && in->begin < in->end) {
        response->lent = (struct bytes){in->data + in->begin,
                                        in->end - in->begin};
        transfer->lent = in->end;
        return transfer->piped > 0 ? STREAM_MORE : end_of(transfer);
    }
    if (transfer_lend_pipe(transfer))
        return end_of(transfer);
    if (transfer->is_broken)
        return STREAM_FAILED;
    transfer->exchange->is_half_closed = transfer->has_peer_ended;
    return transfer->is_reply_done ? end_of(transfer) : STREAM_LATER;
}

static int fill_fault(struct transfer *transfer)
{
    struct exchange *exchange = transfer->exchange;

    exchange->response.stream = NULL;
    if (transfer->fault == PROXY_FAULT_INTERCEPTED)
        proxy_answer_intercepted(transfer);
    else
        proxy_answer_fault(transfer->proxy, exchange,
                           (enum proxy_fault)transfer->fault);
    transfer->exchange = NULL;
    transfer_release(transfer);
    return STREAM_ANSWERED;
}

static int fill_head(struct transfer *transfer, struct buf *out)
{
    if (transfer->interim.len > 0) {
        buf_put(out, buf_bytes(&transfer->interim));
        transfer->interim.len = 0;
        return STREAM_MORE;
    }
    if (transfer->in)
        transfer_digest(transfer);
    if (transfer->is_open && transfer->has_reply)
        transfer_watch(transfer); /* it is the body now that may be slow */
    if (transfer->is_answered)
        return STREAM_ANSWERED;
    return transfer->fault ? fill_fault(transfer) : STREAM_LATER;
}

int proxy_fill(struct stream *stream, struct buf *out)
{
    struct transfer *transfer = OWNER_OF(stream, struct transfer, stream);
    int result;

    transfer->refs++;
    result = transfer->is_answered ? fill_body(transfer)
                                   : fill_head(transfer, out);
    transfer_release(transfer);
    return result;
}
