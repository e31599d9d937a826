#include "handler/proxy/proxy_priv.h"

#include "base/units.h"
#include "http/websocket.h"
#include "observe/profile.h"

enum { KEPT_S_MAX = 86400 };

/* --- Bodies -------------------------------------------------------------- */

/* Whether nothing can lie in the socket behind the last read. If that read has
 * filled its room, or if bytes have waited in the socket, there may be more:
 * bytes behind the reply, or the end of a connection that was idle too long for
 * the server. */
static bool has_read_all(const struct transfer *transfer)
{
    return (!transfer->has_filled && !transfer->has_paused) ||
           transfer_has_read_all(transfer);
}

/* Decodes in place the bytes that were read, from position `from` on. */
static void decode(struct transfer *transfer, size_t from)
{
    struct proxy_buffer *in = transfer->in;
    struct bytes input = {in->data + from, in->end - from};
    struct bytes data;

    if (transfer->is_tunnel)
        return;
    in->end = from;
    for (;;) {
        switch (body_reader_next(&transfer->reader, &input, &data)) {
        case BODY_DATA:
            if (data.data != in->data + in->end)
                memmove(in->data + in->end, data.data, data.len);
            in->end += data.len;
            break;
        case BODY_AGAIN:
            return;
        case BODY_END:
            transfer_finish(transfer, input.len == 0 && has_read_all(transfer));
            return;
        case BODY_BAD:
            transfer->proxy->why = "frames its body wrongly";
            transfer->proxy->on_fault(transfer, PROXY_FAULT_REPLY);
            return;
        }
    }
}

/* --- Heads --------------------------------------------------------------- */

/* Returns for how many ms the server keeps an idle connection, or 0 if it does
 * not say. */
static uint64_t read_kept_ms(const struct reply *reply)
{
    /* Keep-Alive is one of the hop-by-hop fields. */
    if (!(reply->seen & (1u << FIELD_HOP_BY_HOP)))
        return 0;
    for (size_t i = 0; i < reply->field_count; i++) {
        const struct field *field = &reply->fields[i];
        const char *at, *end = field->value.data + field->value.len;
        uint64_t seconds = 0;

        if (!bytes_ieq(field->name, BYTES("Keep-Alive")))
            continue;
        at = memmem(field->value.data, field->value.len, "timeout=", 8);
        for (at = at ? at + 8 : end;
             at < end && byte_is_digit(*at) && seconds < KEPT_S_MAX; at++)
            seconds = seconds * 10 + (uint64_t)(*at - '0');
        return seconds * MS_PER_S;
    }
    return 0;
}

/* Handles a 1xx. It is passed on when the response sends next, except to
 * clients of HTTP/1.0 (RFC 9110 15.2). The client gets every 1xx, since this
 * server never asks for 100 itself. Returns false if there are too many. */
static bool pass_interim(struct transfer *transfer)
{
    const struct request *request = &transfer->exchange->request;
    const struct reply *reply = &transfer->proxy->reply;
    const struct relay *relay;

    if (++transfer->interims > PROXY_INTERIM_MAX)
        return false;
    if (request->minor == 0)
        return true;
    relay = transfer_relay(transfer, transfer->lease.server);
    transfer->interim.len = 0;
    transfer->interim_phrase = (uint16_t)reply->reason.len;
    buf_put(&transfer->interim, reply->reason);
    if (relay_interim(relay, request, reply, &transfer->interim) != RELAY_DONE)
        return false;
    transfer->interim_status = (uint16_t)reply->status;
    return true;
}

/* Whether the place has a page of its own for this error of the upstream. */
static bool is_intercepted(const struct transfer *transfer)
{
    const struct error_source *errors = transfer->exchange->response.errors;
    unsigned status = transfer->proxy->reply.status;

    return transfer->proxy->options.intercepts_errors && status >= 400 &&
           errors && errors->has(errors, status);
}

/* Replaces the upstream's error by our own page, but keeps the error's fields.
 * `head`, which is no longer needed, holds the fields until the response is
 * made. Returns false if the reply cannot be passed on. */
static bool intercept(struct transfer *transfer)
{
    const struct relay *relay = transfer_relay(transfer,
                                               transfer->lease.server);

    transfer_let_go(transfer, false, BALANCE_SUCCESS);
    transfer->is_send_over = true;
    transfer->sink.is_full = false;
    transfer->head.len = transfer->head_sent = 0;
    if (relay_error(relay, &transfer->exchange->request,
                    &transfer->proxy->reply, &transfer->head) != RELAY_DONE)
        return false;
    transfer->intercepted = (uint16_t)transfer->proxy->reply.status;
    transfer->fault = PROXY_FAULT_INTERCEPTED;
    return true;
}

/* Whether the upstream may switch protocols, and has agreed to the protocol
 * asked for. The key of a WebSocket over HTTP/2 is our own, so we must check
 * the upstream's answer to the key. */
static bool may_switch(const struct transfer *transfer)
{
    const struct request *request = &transfer->exchange->request;

    return transfer->is_upgrade &&
           (request->minor != REQUEST_HTTP2 ||
            websocket_is_answered(request, &transfer->proxy->reply));
}

/* Handles a reply whose head is complete. Returns false if the reply cannot be
 * passed on. */
static bool take_reply(struct transfer *transfer, size_t used)
{
    const struct request *request = &transfer->exchange->request;
    const struct reply *reply = &transfer->proxy->reply;
    enum body_framing framing = reply_framing(reply, request->method);

    if (framing == BODY_TUNNEL && !may_switch(transfer))
        return false;
    transfer->has_reply = true;
    transfer_note_reply(transfer);
    if (transfer->proxy->hear)
        transfer->proxy->hear(transfer->proxy->hear_context, transfer->exchange,
                              reply,
                              transfer_relay(transfer, transfer->lease.server));
    transfer->is_tunnel = framing == BODY_TUNNEL;
    transfer->persists = reply->persists && framing != BODY_UNTIL_CLOSE &&
                         !relay_binds_connection(request);
    transfer->kept_ms = read_kept_ms(reply);
    transfer->in->begin += used;
    transfer->borrowed_end = transfer->in->begin;
    body_reader_init(&transfer->reader, framing, reply->content_length);
    if (framing == BODY_CHUNKED && relay_takes_trailers(request))
        transfer->reader.chunked.trailer = &transfer->trailer;
    decode(transfer, transfer->in->begin);
    if (transfer->fault != PROXY_FAULT_NONE)
        return true;
    return is_intercepted(transfer) ? intercept(transfer)
                                    : transfer_answer(transfer, framing);
}

static bool response_is_busy(const struct transfer *transfer)
{
    return transfer->interim_status != 0 ||
           transfer->exchange->response.bytes_left > 0;
}

static void refuse_reply(struct transfer *transfer, const char *why)
{
    transfer->proxy->why = why;
    transfer->proxy->on_fault(transfer, PROXY_FAULT_REPLY);
}

void transfer_digest(struct transfer *transfer)
{
    struct proxy_buffer *in = transfer->in;
    const char *fault;
    size_t used;

    while (!transfer->has_reply && !transfer->fault && in->begin < in->end) {
        if (response_is_busy(transfer)) {
            /* During the pause, the end of the upstream's connection is not
             * noticed. */
            if (transfer->is_open)
                transfer_pause(transfer);
            return;
        }
        if (!exchange_rouse(transfer->exchange)) {
            transfer->proxy->on_fault(transfer, PROXY_FAULT_SHORT);
            return;
        }
        switch (http1_parse_reply(&transfer->progress, in->data + in->begin,
                                  in->end - in->begin, &transfer->proxy->reply,
                                  &used, &fault)) {
        case HTTP1_MORE:
            if (in->end == proxy_in_bytes(transfer->proxy))
                refuse_reply(transfer, "has a head that is too long");
            return;
        case HTTP1_BAD:
            refuse_reply(transfer, fault);
            return;
        case HTTP1_DONE:
            break;
        }
        if (!reply_is_interim(&transfer->proxy->reply)) {
            if (!take_reply(transfer, used))
                refuse_reply(transfer, "cannot be passed on");
            return;
        }
        in->begin += used;
        if (in->begin == in->end) /* the next head gets the whole buffer */
            in->begin = in->end = 0;
        if (!pass_interim(transfer))
            refuse_reply(transfer, "is preceded by too much");
    }
}

/* --- Reading ------------------------------------------------------------- */

/* Returns how many bytes may be read. */
static size_t count_room(const struct transfer *transfer)
{
    const struct exchange_stock *stock = transfer->exchange->stock;
    size_t room = proxy_in_bytes(transfer->proxy) - transfer->in->end;
    size_t most;

    if (!stock)
        return room;
    most = stock->at_most > 0 ? stock->at_most : exchange_stock_room(stock);
    return 0 < most && most < room ? most : room;
}

static enum io_result receive(struct transfer *transfer, size_t *len_out)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    const struct transport *transport = transfer_transport(transfer);
    struct proxy_buffer *in = transfer->in;
    size_t room = count_room(transfer);
    enum io_result result = transport_receive(transport, in->data + in->end,
                                              room, len_out);

    transfer->has_filled = result == IO_DONE && *len_out == room;
    if (transport_is_secure(transport) && tls_has_unread(transport->tls))
        upstream_read_again(&transfer->lease);
    profile_leave(before);
    return result;
}

static void take_in(struct transfer *transfer, size_t n)
{
    struct proxy_buffer *in = transfer->in;
    size_t from = in->end;

    transfer_count_in(transfer, n);
    in->end += n;
    if (transfer->has_reply)
        decode(transfer, from);
    else
        transfer_digest(transfer);
    if (!transfer->is_open)
        return;
    if (transfer->in->end == proxy_in_bytes(transfer->proxy))
        transfer_pause(transfer);
    transfer_watch(transfer);
}

static void read_once(struct transfer *transfer)
{
    size_t n;

    if (!transfer->in && !(transfer->in = proxy_buffer_take(transfer->proxy))) {
        transfer->proxy->on_fault(transfer, PROXY_FAULT_SHORT);
        return;
    }
    switch (receive(transfer, &n)) {
    case IO_DONE:
        take_in(transfer, n);
        break;
    case IO_AGAIN_READ:
        return;
    case IO_AGAIN_WRITE:
        upstream_wait_writable(&transfer->lease);
        return;
    case IO_EOF:
        transfer_meet_end(transfer,
                          !transport_was_cut(transfer_transport(transfer)));
        break;
    case IO_FAILED:
        transfer_meet_end(transfer, false);
        break;
    }
    transfer_note_stock(transfer);
    transfer_wake(transfer);
}

void transfer_read(struct transfer *transfer)
{
    transfer->refs++;
    if (transfer_is_piped(transfer))
        transfer_read_piped(transfer);
    else
        read_once(transfer);
    transfer_release(transfer);
}

void transfer_meet_bytes(struct transfer *transfer)
{
    if (exchange_reads_ahead(transfer->exchange) || transfer_is_piped(transfer))
        transfer_read(transfer);
    else
        transfer_hold_back(transfer);
}
