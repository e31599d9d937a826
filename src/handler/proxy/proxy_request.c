#include "handler/proxy/proxy_priv.h"

#include <assert.h>
#include <stdio.h>

#include "io/tls/tls.h"
#include "observe/profile.h"

/* A chunk's size in hexadecimal and two CRLF are shorter than this. */
enum { FRAMING_BYTES_MAX = 32 };

/* --- Bytes to send ------------------------------------------------------- */

enum relay_verdict transfer_write_head(struct transfer *transfer, int server)
{
    struct exchange *exchange = transfer->exchange;
    const struct relay *relay = transfer_relay(transfer, server);
    struct relay_from from = {
        .peer = exchange->neighbour,
        .scheme = exchange_is_secure(exchange) ? BYTES("https") : BYTES("http"),
        .expects_continue = true};
    char subject[TLS_SUBJECT_MAX];
    char fingerprint[TLS_FINGERPRINT_MAX + 1];

    if (!exchange_rouse(exchange))
        return RELAY_TOO_LARGE;
    if (relay->tells_client && exchange->tls &&
        tls_tell_client(exchange->tls, subject, fingerprint)) {
        from.client_subject = bytes_of(subject);
        from.client_fingerprint = bytes_of(fingerprint);
    }
    transfer->head.len = transfer->head_sent = 0;
    return relay_request(relay, &exchange->request, &from, &transfer->head);
}

enum relay_verdict transfer_renew_head(struct transfer *transfer)
{
    return transfer->head.len > 0 ? RELAY_DONE
                                  : transfer_write_head(transfer, 0);
}

/* Takes a buffer for outgoing bytes, if there is none. Returns false when there
 * is no memory, after it has made the transfer fail. */
static bool has_buffer(struct transfer *transfer)
{
    if (!transfer->out)
        transfer->out = proxy_buffer_take(transfer->proxy);
    if (!transfer->out)
        transfer->proxy->on_fault(transfer, PROXY_FAULT_SHORT);
    return transfer->out;
}

static void put(struct proxy_buffer *out, struct bytes text)
{
    memcpy(out->data + out->end, text.data, text.len);
    out->end += text.len;
}

/* Returns true if enough of the body has come to ask an upstream. With less, a
 * slow client would occupy the upstream. */
static bool is_enough(const struct transfer *transfer)
{
    return transfer->has_body_ended || transfer->sink.is_full ||
           transfer->sink.is_eased ||
           transfer->held_bytes >= transfer->proxy->options.request_bytes ||
           transfer_is_crowded(transfer);
}

void transfer_ask_if_due(struct transfer *transfer)
{
    if (!transfer->is_admitted || (transfer->is_held && !is_enough(transfer)))
        return;
    transfer->is_held = false;
    transfer_hold_none(transfer);
    transfer_ask(transfer);
}

/* Continues after more of the body has come. */
static void go_on(struct transfer *transfer)
{
    if (transfer->is_open)
        transfer_flush(transfer);
    else
        transfer_make_way(transfer);
    if (transfer->is_held)
        transfer_ask_if_due(transfer);
}

static void count_sent(const struct transfer *transfer, size_t n)
{
    proxy_count(&transfer->proxy->options.upstream.shared
                     ->counts[transfer->lease.server]
                     .bytes_out,
                n);
}

/* Sends as much of `data` as possible without copying it. The rest stays in
 * `data`. */
static void send_straight(struct transfer *transfer, struct bytes *data)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    struct iovec part = {(void *)(uintptr_t)data->data, data->len};
    size_t sent;
    enum io_result result = transport_send(transfer_transport(transfer), &part,
                                           1, false, &sent);

    profile_leave(before);
    transfer_forget_sent(transfer);
    if (result == IO_DONE) {
        count_sent(transfer, sent);
        *data = bytes_between(data->data + sent, data->data + data->len);
    } else if (result == IO_EOF || result == IO_FAILED) {
        transfer_stop_sending(transfer);
        data->len = 0;
    }
}

bool proxy_take_body(struct sink *sink, struct bytes data)
{
    struct transfer *transfer = OWNER_OF(sink, struct transfer, sink);
    bool is_chunked = transfer->out_framing == BODY_CHUNKED;
    char size[16];
    size_t len;

    if (!transfer->exchange || transfer->is_send_over) {
        transfer->is_kept = false; /* bytes of the body are lost here */
        return transfer->exchange && transfer->is_tunnel;
    }
    if (data.len == 0)
        return true;
    if (transfer_goes_straight(transfer))
        send_straight(transfer, &data);
    if (data.len == 0) {
        go_on(transfer);
        return true;
    }
    if (!has_buffer(transfer))
        return false;
    len = data.len + (is_chunked ? FRAMING_BYTES_MAX : 0);
    if (!transfer_has_room(transfer, len,
                           transfer->proxy->options.buffer_bytes +
                               PROXY_TAKEN_BYTES)) {
        transfer->is_kept = false; /* these bytes came unasked, and are lost */
        return false;
    }
    if (is_chunked) {
        int size_len = snprintf(size, sizeof(size), "%zx\r\n", data.len);

        put(transfer->out, (struct bytes){size, (size_t)size_len});
    }
    put(transfer->out, data);
    if (is_chunked)
        put(transfer->out, BYTES("\r\n"));
    if (transfer->is_held || !transfer->is_admitted)
        transfer_hold(transfer, data.len);
    go_on(transfer);
    return true;
}

void proxy_end_body(struct sink *sink)
{
    struct transfer *transfer = OWNER_OF(sink, struct transfer, sink);

    transfer->has_body_ended = true;
    if (!transfer->exchange)
        return;
    if (transfer->out_framing == BODY_CHUNKED && !has_buffer(transfer))
        return;
    /* The last chunk is kept for another try, too. */
    if (transfer->out_framing == BODY_CHUNKED)
        put(transfer->out, BYTES("0\r\n\r\n"));
    go_on(transfer);
}

void proxy_foresee_end(struct sink *sink)
{
    struct transfer *transfer = OWNER_OF(sink, struct transfer, sink);

    if (transfer->is_ending)
        return;
    transfer->is_ending = true;
    transfer_watch(transfer);
}

size_t proxy_kept(const struct sink *sink)
{
    const struct transfer *transfer = OWNER_OF(sink, const struct transfer,
                                               sink);

    return transfer->out ? transfer->out->end - transfer->out->begin : 0;
}

void proxy_ease(struct sink *sink)
{
    struct transfer *transfer = OWNER_OF(sink, struct transfer, sink);

    if (!transfer->exchange)
        return;
    transfer_keep_no_copy(transfer);
    transfer_make_way(transfer);
    if (transfer->is_held)
        transfer_ask_if_due(transfer);
}

/* --- Sending ------------------------------------------------------------- */

static enum io_result send_some(struct transfer *transfer, size_t *len_out)
{
    struct iovec parts[2];
    size_t count = 0;
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    enum io_result result;

    if (transfer->head_sent < transfer->head.len)
        parts[count++] = (struct iovec){
            transfer->head.data + transfer->head_sent,
            transfer->head.len - transfer->head_sent};
    if (transfer_pending(transfer) > 0)
        parts[count++] = (struct iovec){
            transfer->out->data + transfer->out->begin + transfer->out_sent,
            transfer_pending(transfer)};
    result = transport_send(transfer_transport(transfer), parts, count, false,
                            len_out);
    profile_leave(before);
    return result;
}

static void note_sent(struct transfer *transfer, size_t n)
{
    size_t head = transfer->head.len - transfer->head_sent;

    if (n < head)
        head = n;
    transfer->head_sent += head;
    transfer->out_sent += n - head;
    transfer->has_sent = true;
    count_sent(transfer, n);
    if (transfer->head.len > 0 && transfer->head_sent == transfer->head.len)
        transfer_drop_head(transfer);
    transfer_keep_no_copy(transfer);
}

/* Ends one direction of a tunnel. If the other direction has ended, too, the
 * whole tunnel ends. */
static void end_tunnel(struct transfer *transfer)
{
    if (!transfer->has_peer_ended)
        return;
    transfer->is_reply_done = true;
    transfer_wake(transfer);
}

void transfer_stop_sending(struct transfer *transfer)
{
    transfer->is_send_over = true;
    if (transfer->is_tunnel) {
        end_tunnel(transfer);
        return;
    }
    transfer->sink.is_full = false; /* later bytes are refused when they come */
    if (transfer->exchange)
        exchange_wake(transfer->exchange);
}

/* Tells a tunnel's upstream that the client sends no more. */
static void shut_down(struct transfer *transfer)
{
    if (transport_shut_down(transfer_transport(transfer)) == IO_AGAIN_WRITE) {
        upstream_wait_writable(&transfer->lease);
        return;
    }
    transfer->is_send_over = true;
    end_tunnel(transfer);
}

void transfer_flush(struct transfer *transfer)
{
    bool is_full = false;

    while (!transfer->is_send_over && !transfer_is_sent(transfer) && !is_full) {
        size_t n;

        switch (send_some(transfer, &n)) {
        case IO_DONE:
            note_sent(transfer, n);
            break;
        case IO_AGAIN_READ:
        case IO_AGAIN_WRITE:
            upstream_wait_writable(&transfer->lease);
            is_full = true;
            break;
        case IO_EOF:
        case IO_FAILED:
            transfer_stop_sending(transfer);
            break;
        }
    }
    if (transfer->is_tunnel && transfer->has_body_ended &&
        transfer_is_sent(transfer) && !transfer->is_send_over)
        shut_down(transfer);
    transfer_make_way(transfer);
    if (transfer->is_tunnel)
        transfer_drop_empty(transfer);
    transfer_watch(transfer);
}

/* --- The upstream -------------------------------------------------------- */

static void on_open(struct upstream_lease *lease)
{
    struct transfer *transfer = OWNER_OF(lease, struct transfer, lease);
    bool has_rested = exchange_is_resting(transfer->exchange);

    transfer->is_asking = false;
    transfer->is_open = true;
    transfer_note_server(transfer);
    /* The head was made before the server was known, or was dropped while the
     * exchange rested. */
    if ((!transfer->proxy->options.relay.keeps_host ||
         transfer->head.len == 0) &&
        transfer_write_head(transfer, lease->server) != RELAY_DONE) {
        transfer_let_go(transfer, false, BALANCE_NEITHER);
        transfer->fault = PROXY_FAULT_SHORT;
        transfer_wake(transfer);
        return;
    }
    transfer_flush(transfer);
    if (has_rested) /* the exchange may rest again, since the head is made */
        transfer_wake(transfer);
}

static void on_failed(struct upstream_lease *lease)
{
    struct transfer *transfer = OWNER_OF(lease, struct transfer, lease);

    transfer->is_asking = false;
    transfer_note_server(transfer);
    transfer->proxy->on_fault(transfer, proxy_fault_of(lease->error));
}

static void on_readable(struct upstream_lease *lease)
{
    transfer_meet_bytes(OWNER_OF(lease, struct transfer, lease));
}

static void on_writable(struct upstream_lease *lease)
{
    transfer_flush(OWNER_OF(lease, struct transfer, lease));
}

void transfer_ask(struct transfer *transfer)
{
    struct upstream_lease *lease = &transfer->lease;

    /* A client that was not admitted must not reach an upstream. */
    assert(transfer->is_admitted &&
           transfer->exchange->pending == &transfer->pending);
    transfer_note_asking(transfer);
    lease->uri = transfer->exchange->request.target;
    lease->request_id = exchange_request_id(transfer->exchange);
    lease->on_open = on_open;
    lease->on_failed = on_failed;
    lease->on_readable = on_readable;
    lease->on_writable = on_writable;
    transfer->is_asking = true;
    upstream_lease_start(transfer->proxy->pool, lease);
    if (transfer->is_asking) /* false if the lease has failed at once */
        transfer_note_server(transfer);
}
