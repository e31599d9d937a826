#include "handler/proxy/proxy_priv.h"

/* Drops sent bytes, so that they can never be sent again. */
static void drop_sent(struct transfer *transfer)
{
    struct proxy_buffer *out = transfer->out;

    if (transfer->out_sent == 0)
        return;
    transfer->is_kept = false;
    out->begin += transfer->out_sent;
    transfer->out_sent = 0;
    memmove(out->data, out->data + out->begin, out->end - out->begin);
    out->end -= out->begin;
    out->begin = 0;
}

/* Bytes may be sent from the place where the client's read has put them, if no
 * other bytes must precede them, and if another try (proxy_retry.c) needs no
 * copy of them. */
bool transfer_goes_straight(const struct transfer *transfer)
{
    return transfer->is_open && transfer->has_sent &&
           transfer_is_sent(transfer) &&
           transfer->out_framing != BODY_CHUNKED &&
           (!transfer->is_kept || transfer->has_reply ||
            !method_is_idempotent(transfer->exchange->request.method));
}

void transfer_forget_sent(struct transfer *transfer)
{
    transfer->is_kept = false;
    if (transfer->out)
        drop_sent(transfer);
}

void transfer_drop_empty(struct transfer *transfer)
{
    transfer_forget_sent(transfer);
    if (transfer->out && transfer->out->end == 0)
        proxy_buffer_give(transfer->proxy, &transfer->out);
}

void transfer_keep_no_copy(struct transfer *transfer)
{
    if (!transfer->sink.is_eased || transfer->out_sent == 0)
        return;
    transfer_drop_empty(transfer);
    transfer_wake(transfer);
}

bool transfer_has_room(struct transfer *transfer, size_t len, size_t most)
{
    if (transfer->out->end + len <= most)
        return true;
    drop_sent(transfer);
    return transfer->out->end + len <= most;
}

/* Whether the buffer has room for the whole body. */
static bool fits_whole(const struct transfer *transfer)
{
    const struct proxy *proxy = transfer->proxy;

    return transfer->out_framing == BODY_LENGTH &&
           transfer->exchange->request.content_length <=
               proxy->options.buffer_bytes;
}

bool transfer_is_crowded(const struct transfer *transfer)
{
    const struct proxy_held *held = transfer->proxy->options.held;

    return held && held->bytes >= PROXY_HELD_BYTES_MAX;
}

/* Whether the client's next read must wait. */
static bool is_full(struct transfer *transfer)
{
    size_t bytes = transfer->proxy->options.buffer_bytes;

    if (!transfer->is_admitted && transfer_is_crowded(transfer))
        return true;
    if (!transfer->out || fits_whole(transfer))
        return false;
    return transfer->is_held
               ? transfer->out->end >= bytes
               : !transfer_has_room(transfer, PROXY_TAKEN_BYTES, bytes);
}

void transfer_make_way(struct transfer *transfer)
{
    bool was_full = transfer->sink.is_full;

    transfer->sink.takes_at_once = 0;
    if ((!transfer->out && !transfer->sink.is_eased && !transfer->is_tunnel) ||
        transfer->has_body_ended || transfer->is_send_over ||
        !transfer->exchange)
        return;
    transfer->sink.is_full = is_full(transfer);
    if (transfer_goes_straight(transfer)) /* `out` takes what stays unsent */
        transfer->sink.takes_at_once = transfer->proxy->options.buffer_bytes;
    if (was_full && !transfer->sink.is_full)
        exchange_wake(transfer->exchange);
}
