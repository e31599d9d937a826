#include "handler/proxy/proxy_priv.h"

#include <assert.h>

#include "handler/encode.h"

/* Opens a tunnel: from now on, the client's bytes go to the upstream, and the
 * upstream's bytes go to the client. Returns false if the reply cannot be
 * passed on. */
static bool open_tunnel(struct transfer *transfer, const struct relay *relay)
{
    const struct proxy *proxy = transfer->proxy;
    struct exchange *exchange = transfer->exchange;
    struct response *response = &exchange->response;

    if (relay_interim(relay, &exchange->request, &proxy->reply,
                      &response->head) != RELAY_DONE)
        return false;
    response_add_bare_head(response);
    if (response->head.failed)
        return false;
    response->source = &transfer->source;
    transfer->out_framing = BODY_TUNNEL;
    transfer->has_body_ended = false;
    transfer->refs++;
    exchange->sink = &transfer->sink;
    exchange->body_max = 0; /* no limit: a tunnel may last for days */
    exchange->is_tunnel = true;
    return true;
}

/* Lends the response the received part of the body, which is sent together with
 * the head. */
static void lend_first(struct transfer *transfer)
{
    struct response *response = &transfer->exchange->response;
    const struct proxy_buffer *in = transfer->in;
    struct bytes data = {in->data + in->begin, in->end - in->begin};

    if (!response->source || !response->has_length)
        return; /* the body, if there is one, comes from the source alone */
    response_add_memory(response, data);
    response->body_bytes += data.len;
    response->length_left -= data.len;
    transfer->borrowed_end = in->end;
    response->has_ended = transfer->is_reply_done;
}

/* Adds the body to the response. If all of the body has come, the response has
 * its length; otherwise the body is framed as it was received. */
static void add_body(struct transfer *transfer, enum body_framing framing)
{
    struct exchange *exchange = transfer->exchange;
    struct response *response = &exchange->response;
    const struct proxy_buffer *in = transfer->in;
    uint64_t length = ENCODE_UNSIZED;

    if (response->status == 206 || response->status == 304)
        encode_unsent(response->encode, exchange, BYTES(""));
    if (framing == BODY_NONE) {
        if (response->is_head)
            encode_head(response->encode, exchange);
        response_add_head(response);
        /* The source owns the bytes that are lent. */
        response->source = &transfer->source;
        response->has_ended = true;
        return;
    }
    if (framing == BODY_LENGTH)
        length = transfer->proxy->reply.content_length;
    else if (transfer->is_reply_done && transfer->trailer.len == 0)
        length = in->end - in->begin;
    encode_add_source(response->encode, exchange, &transfer->source, length);
}

bool transfer_answer(struct transfer *transfer, enum body_framing framing)
{
    const struct proxy *proxy = transfer->proxy;
    struct exchange *exchange = transfer->exchange;
    struct response *response = &exchange->response;
    const struct relay *relay = transfer_relay(transfer,
                                               transfer->lease.server);

    /* The reference held by `pending` now belongs to the source. */
    assert(exchange->pending == &transfer->pending);
    exchange->pending = NULL;
    response_begin_relayed(response, proxy->reply.status, proxy->reply.reason);
    response->has_date = reply_find(&proxy->reply, FIELD_DATE);
    transfer->is_answered = true;
    if (framing == BODY_TUNNEL) {
        transfer->is_answered = open_tunnel(transfer, relay);
    } else if (relay_reply(relay, &exchange->request, &proxy->reply,
                           &response->head) == RELAY_DONE) {
        add_body(transfer, framing);
        if (transfer->exchange) /* NULL if there was no memory for the head */
            lend_first(transfer);
    } else {
        transfer->is_answered = false;
    }
    if (!transfer->is_answered)
        exchange->pending = &transfer->pending;
    return transfer->is_answered;
}
