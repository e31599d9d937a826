#include "handler/proxy/proxy_priv.h"

/* Returns the place for facts about the upstream that the log shows, or NULL if
 * the log shows no such facts. */
static struct exchange_upstream *noted(const struct transfer *transfer)
{
    return transfer->exchange && transfer->exchange->wants_upstream
               ? &transfer->exchange->upstream
               : NULL;
}

void transfer_note_asking(const struct transfer *transfer)
{
    struct exchange_upstream *upstream = noted(transfer);

    if (upstream)
        *upstream = (struct exchange_upstream){.asked_ns = now_read_ns()};
}

void transfer_note_server(const struct transfer *transfer)
{
    struct exchange_upstream *upstream = noted(transfer);
    const struct upstream_lease *lease = &transfer->lease;

    if (!upstream || lease->server < 0)
        return;
    upstream->name = upstream_name(upstream_endpoint_of(transfer->proxy->pool,
                                                        lease->server));
    if (transfer->is_open)
        upstream->opened_ns = lease->is_reused ? upstream->asked_ns
                                               : now_read_ns();
}

void transfer_note_reply(const struct transfer *transfer)
{
    struct exchange_upstream *upstream = noted(transfer);

    if (!upstream)
        return;
    upstream->status = transfer->proxy->reply.status;
    upstream->first_ns = now_read_ns();
}

void transfer_note_end(const struct transfer *transfer)
{
    struct exchange_upstream *upstream = noted(transfer);

    if (upstream && upstream->last_ns == 0)
        upstream->last_ns = now_read_ns();
}
