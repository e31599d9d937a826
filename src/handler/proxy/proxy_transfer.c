#include "handler/proxy/proxy_priv.h"

#include <errno.h>
#include <sys/socket.h>

/* --- Buffers ------------------------------------------------------------- */

struct proxy_buffer *proxy_buffer_take(struct proxy *proxy)
{
    struct proxy_buffer *buffer = pool_take(&proxy->buffers);

    if (buffer)
        buffer->begin = buffer->end = 0;
    return buffer;
}

void proxy_buffer_give(struct proxy *proxy, struct proxy_buffer **buffer_ref)
{
    pool_give(&proxy->buffers, *buffer_ref);
    *buffer_ref = NULL;
}

void transfer_note_stock(struct transfer *transfer)
{
    const struct proxy_buffer *in = transfer->in;
    size_t bytes = in ? PROXY_STOCK_BYTES + in->end : 0;

    if (transfer->exchange)
        exchange_note_stock(transfer->exchange, transfer->stocked, bytes);
    transfer->stocked = bytes;
}

void transfer_give_in(struct transfer *transfer)
{
    proxy_buffer_give(transfer->proxy, &transfer->in);
    transfer_note_stock(transfer);
}

void transfer_lend_head(struct transfer *transfer)
{
    transfer->head_room = pool_take(&transfer->proxy->heads);
    buf_init(&transfer->head, transfer->head_room,
             transfer->head_room ? PROXY_HEAD_BYTES : 0, RELAY_HEAD_BYTES_MAX);
}

void transfer_drop_head(struct transfer *transfer)
{
    buf_fini(&transfer->head);
    pool_give(&transfer->proxy->heads, transfer->head_room);
    transfer->head_room = NULL;
    buf_init(&transfer->head, NULL, 0, RELAY_HEAD_BYTES_MAX);
    transfer->head_sent = 0;
}

void transfer_hold(struct transfer *transfer, size_t len)
{
    struct proxy_held *held = transfer->proxy->options.held;

    transfer->held_bytes += len;
    if (held)
        held->bytes += len;
}

void transfer_hold_none(struct transfer *transfer)
{
    struct proxy_held *held = transfer->proxy->options.held;

    if (held)
        held->bytes -= transfer->held_bytes;
    transfer->held_bytes = 0;
}

/* --- Requests and replies ------------------------------------------------ */

/* Returns proxy->relay, in which a few members are set anew for each
 * transfer. */
const struct relay *transfer_relay(const struct transfer *transfer, int server)
{
    struct proxy *proxy = transfer->proxy;
    const struct upstream_endpoint *endpoint = upstream_endpoint_of(proxy->pool,
                                                                    server);
    struct relay *relay = &proxy->relay;

    relay->host = endpoint->authority;
    relay->is_https = endpoint->tls_name.len > 0;
    relay->upgrade = transfer->is_upgrade ? proxy->options.relay.upgrade
                                          : BYTES("");
    if (proxy->options.names_requests)
        relay->request_id = exchange_request_id(transfer->exchange);
    relay->traceparent = (struct bytes){transfer->traceparent,
                                        transfer->traceparent_len};
    return relay;
}

void transfer_wake(struct transfer *transfer)
{
    if (transfer->exchange)
        exchange_wake(transfer->exchange);
}

size_t transfer_pending(const struct transfer *transfer)
{
    const struct proxy_buffer *out = transfer->out;

    return out ? out->end - out->begin - transfer->out_sent : 0;
}

bool transfer_is_sent(const struct transfer *transfer)
{
    return transfer->head_sent == transfer->head.len &&
           transfer_pending(transfer) == 0;
}

void transfer_count_in(const struct transfer *transfer, size_t n)
{
    proxy_count(&transfer->proxy->options.upstream.shared
                     ->counts[transfer->lease.server]
                     .bytes_in,
                n);
}

/* --- Time ---------------------------------------------------------------- */

/* Sets the deadline to `ms` milliseconds from now, or drops it if `ms` is 0. */
static void limit(struct transfer *transfer, uint64_t ms)
{
    struct proxy *proxy = transfer->proxy;

    if (ms > 0)
        deadline_set(&proxy->deadlines, &transfer->deadline,
                     proxy->now->mono_ms + ms);
    else
        deadline_drop(&proxy->deadlines, &transfer->deadline);
}

/* Returns the time limit of a tunnel. When the client has ended its direction,
 * the shorter limit applies: the client may be gone, and this shows only when
 * bytes are sent to it. */
static uint64_t tunnel_ms(const struct transfer *transfer)
{
    const struct proxy_options *options = &transfer->proxy->options;
    bool is_last = transfer->has_body_ended || transfer->is_ending;

    return is_last && options->idle_ms < options->tunnel_ms
               ? options->idle_ms
               : options->tunnel_ms;
}

void transfer_watch(struct transfer *transfer)
{
    const struct proxy_options *options = &transfer->proxy->options;

    if (!transfer->is_open)
        limit(transfer, 0); /* connecting has a limit of its own */
    else if (transfer->is_tunnel)
        limit(transfer, tunnel_ms(transfer));
    else if (transfer->exchange->is_held_back) /* the reply has come */
        limit(transfer, 0);
    else if (!transfer_is_sent(transfer) && !transfer->is_send_over)
        limit(transfer, options->idle_ms);
    else if (transfer->is_paused) /* the client is slow */
        limit(transfer, 0);
    else if (transfer->has_reply)
        limit(transfer, options->idle_ms);
    else if (transfer->has_body_ended || transfer->is_send_over)
        limit(transfer, options->reply_ms);
    else /* the client's connection limits the body's time */
        limit(transfer, 0);
}

/* --- Rest ---------------------------------------------------------------- */

/* Gives up the head and the buffer. An unsent head is made again when there is
 * a server, and a buffer is taken again when the server sends something. */
bool proxy_rest(struct pending *pending)
{
    struct transfer *transfer = OWNER_OF(pending, struct transfer, pending);

    if (transfer->has_reply || transfer->fault != PROXY_FAULT_NONE ||
        transfer->interim_status != 0 ||
        (transfer->in && transfer->in->begin < transfer->in->end))
        return false;
    transfer_give_in(transfer);
    if (transfer->is_asking)
        transfer_drop_head(transfer);
    return true;
}

/* --- The upstream -------------------------------------------------------- */

bool transfer_has_read_all(const struct transfer *transfer)
{
    char byte;

    return recv(transfer_transport(transfer)->fd, &byte, 1,
                MSG_PEEK | MSG_DONTWAIT) == -1 &&
           errno == EAGAIN;
}

void transfer_pause(struct transfer *transfer)
{
    transfer->is_paused = transfer->has_paused = true;
    upstream_pause(&transfer->lease);
}

void transfer_hold_back(struct transfer *transfer)
{
    transfer->exchange->is_held_back = true;
    transfer_pause(transfer);
    transfer_watch(transfer);
    transfer_wake(transfer);
}

void transfer_let_go(struct transfer *transfer, bool reusable,
                     enum balance_result result)
{
    transfer_note_end(transfer);
    if (transfer->exchange)
        transfer->exchange->is_held_back = false;
    if (transfer->is_asking)
        upstream_lease_cancel(&transfer->lease);
    else if (transfer->is_open)
        upstream_release(&transfer->lease, reusable, transfer->kept_ms, result);
    transfer->is_asking = transfer->is_open = false;
    limit(transfer, 0);
}

void transfer_finish(struct transfer *transfer, bool is_clean)
{
    bool is_sent = transfer->has_body_ended && transfer_is_sent(transfer);

    transfer->is_reply_done = true;
    transfer_let_go(transfer,
                    is_clean && is_sent && transfer->persists &&
                        !transfer->is_send_over,
                    BALANCE_SUCCESS);
    if (!transfer->has_body_ended) { /* the rest of the body is not read */
        transfer->is_send_over = true;
        transfer->sink.is_full = false;
    }
}

/* Notes that a tunnel's upstream sends no more. It may still receive. */
static void half_close(struct transfer *transfer)
{
    transfer->has_peer_ended = true;
    upstream_pause(&transfer->lease);
    if (transfer->is_send_over)
        transfer_finish(transfer, false);
}

/* Handles a connection that has ended too early. If TLS has failed, its reason
 * is logged. */
static void meet_fault(struct transfer *transfer)
{
    const struct transport *transport = transfer_transport(transfer);

    if (transport_is_secure(transport))
        transfer->proxy->tls_why = tls_why(transport->tls);
    transfer->proxy->on_fault(transfer, PROXY_FAULT_CLOSED);
}

void transfer_meet_end(struct transfer *transfer, bool is_clean)
{
    if (transfer->is_tunnel && is_clean)
        half_close(transfer);
    else if (transfer->is_tunnel)
        transfer_finish(transfer, false);
    else if (transfer->has_reply && is_clean &&
             body_reader_finish(&transfer->reader) == BODY_END)
        transfer_finish(transfer, false);
    else
        meet_fault(transfer);
}

/* --- Letting go ---------------------------------------------------------- */

void transfer_give_pipe(struct transfer *transfer)
{
    pipes_give(transfer->proxy->options.pipes, &transfer->pipe);
    transfer->piped = transfer->piped_borrowed = 0;
}

void transfer_abandon(struct transfer *transfer)
{
    struct proxy *proxy = transfer->proxy;

    transfer_give_in(transfer);
    if (transfer->exchange)
        transfer->exchange->is_held_back = false;
    transfer->exchange = NULL;
    transfer->lease.uri = transfer->lease.request_id = BYTES("");
    transfer_let_go(transfer, false, BALANCE_NEITHER);
    transfer_hold_none(transfer);
    if (transfer->pipe)
        transfer_give_pipe(transfer);
    proxy_buffer_give(proxy, &transfer->out);
}

void transfer_release(struct transfer *transfer)
{
    if (--transfer->refs > 0)
        return;
    transfer_abandon(transfer);
    transfer_drop_head(transfer);
    buf_fini(&transfer->interim);
    buf_fini(&transfer->trailer);
    pool_give(&transfer->proxy->transfers, transfer);
}
