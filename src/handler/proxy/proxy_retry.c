#include "handler/proxy/proxy_priv.h"

/* Returns true if the connection was a kept one, and the server closed it
 * before any byte of a reply came. */
static bool is_stale(const struct transfer *transfer, enum proxy_fault fault)
{
    return fault == PROXY_FAULT_CLOSED && transfer->lease.is_reused &&
           !transfer->has_reply && transfer->interims == 0 &&
           (!transfer->in || transfer->in->end == 0);
}

static bool may_retry(const struct transfer *transfer, enum proxy_fault fault)
{
    const struct exchange *exchange = transfer->exchange;

    if (!exchange || transfer->has_reply || transfer->interims > 0 ||
        fault == PROXY_FAULT_NOBODY || fault == PROXY_FAULT_SHORT ||
        fault == PROXY_FAULT_REPLY)
        return false;
    if (transfer->in && transfer->in->end > 0)
        return false; /* part of a reply has come */
    return transfer->is_kept &&
           (!transfer->has_sent ||
            method_is_idempotent(exchange->request.method));
}

/* Forgets that bytes were sent. Body bytes that come before there is another
 * connection are then appended to the kept bytes. */
static void begin_anew(struct transfer *transfer)
{
    transfer->has_sent = transfer->is_send_over = false;
    transfer->head_sent = transfer->out_sent = 0;
    transfer_make_way(transfer);
    /* The client was read without a limit while the upstream took nothing. The
     * exchange is woken, so that the limit holds from now on. */
    if (transfer->sink.is_full && transfer->exchange)
        exchange_wake(transfer->exchange);
}

void transfer_fail(struct transfer *transfer, enum proxy_fault fault)
{
    bool was_stale = is_stale(transfer, fault);

    if (was_stale)
        transfer->proxy->tls_why = NULL;
    else
        proxy_log_fault(transfer->proxy, &transfer->lease, fault);
    transfer_let_go(transfer, false,
                    was_stale ? BALANCE_NEITHER : BALANCE_FAILURE);
    if (may_retry(transfer, fault) &&
        upstream_may_retry(&transfer->lease, transfer->retries, was_stale)) {
        transfer->retries += !was_stale;
        begin_anew(transfer);
        if (transfer_renew_head(transfer) == RELAY_DONE) {
            transfer_ask(transfer);
            transfer_wake(transfer); /* the exchange can rest again */
            return;
        }
        /* Making the head again can fail only because there is no memory: it
         * was made once before. */
        fault = PROXY_FAULT_SHORT;
    }
    if (transfer->is_answered)
        transfer->is_broken = true;
    else
        transfer->fault = (uint8_t)fault;
    transfer_stop_sending(transfer);
    transfer_wake(transfer);
}
