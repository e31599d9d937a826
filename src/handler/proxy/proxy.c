#include "handler/bad_request.h"
#include "handler/proxy/proxy_priv.h"

#include <assert.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- Transfers ----------------------------------------------------------- */

static void on_expired(void *context, struct deadline *deadline)
{
    struct transfer *transfer = OWNER_OF(deadline, struct transfer, deadline);

    (void)context;
    if (transfer->is_tunnel) { /* both sides were silent for too long */
        transfer_let_go(transfer, false, BALANCE_NEITHER);
        transfer->is_reply_done = transfer->is_send_over = true;
        transfer_wake(transfer);
        return;
    }
    transfer_fail(transfer, PROXY_FAULT_SLOW);
}

static void destroy_pending(struct pending *pending)
{
    struct transfer *transfer = OWNER_OF(pending, struct transfer, pending);

    transfer_abandon(transfer);
    transfer_release(transfer);
}

static void destroy_source(struct source *source)
{
    struct transfer *transfer = OWNER_OF(source, struct transfer, source);

    transfer_abandon(transfer);
    transfer_release(transfer);
}

static void destroy_sink(struct sink *sink)
{
    transfer_release(OWNER_OF(sink, struct transfer, sink));
}

static uint64_t hash_of(const struct proxy *proxy,
                        const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    struct bytes text = request->target;

    if (proxy->options.upstream.balance.policy != BALANCE_HASH)
        return 0;
    switch (proxy->options.hash) {
    case PROXY_HASH_ADDRESS:
        text = (struct bytes){(const char *)exchange->peer->octets,
                              sizeof(exchange->peer->octets)};
        break;
    case PROXY_HASH_URI:
        break;
    case PROXY_HASH_FIELD:
        for (size_t i = 0; i < request->field_count; i++)
            if (bytes_ieq(request->fields[i].name, proxy->options.hash_field))
                text = request->fields[i].value;
        break;
    }
    return XXH3_64bits(text.data, text.len);
}

static void name_request(struct transfer *transfer)
{
    struct proxy *proxy = transfer->proxy;
    struct exchange *exchange = transfer->exchange;

    if (proxy->options.names_requests)
        trace_identify(&proxy->trace, proxy->options.relay.trust, exchange);
    if (!proxy->options.makes_traceparent ||
        trace_has_parent(&exchange->request))
        return;
    trace_make_parent(&proxy->trace, exchange_request_id(exchange),
                      transfer->traceparent);
    transfer->traceparent_len = TRACE_PARENT_LEN;
}

/* Has a 100 sent ahead of the upstream's answer. A request for a tunnel has no
 * content, so its Expect does not go on; but a client that sends both gets 100
 * before 101 (RFC 9110 7.8). */
static void say_continue(struct transfer *transfer)
{
    static const struct bytes phrase = {"Continue", 8};

    buf_put(&transfer->interim, phrase);
    if (transfer->interim.failed)
        return; /* no memory */
    transfer->interim_phrase = (uint16_t)phrase.len;
    transfer->interim_status = 100;
}

/* Makes a transfer with one reference, which is the response's. Returns NULL
 * when there is no memory. */
static struct transfer *make_transfer(struct proxy *proxy,
                                      struct exchange *exchange)
{
    const struct relay *relay = &proxy->options.relay;
    struct transfer *transfer = pool_take(&proxy->transfers);

    if (!transfer)
        return NULL;
    memset(transfer, 0, sizeof(*transfer));
    deadline_init(&transfer->deadline);
    transfer->proxy = proxy;
    transfer->exchange = exchange;
    transfer->refs = 1;
    name_request(transfer);
    transfer->pending = (struct pending){
        .look = proxy_look, .destroy = destroy_pending, .rest = proxy_rest};
    transfer->source = (struct source){.next = proxy_next,
                                       .destroy = destroy_source,
                                       .settle = proxy_settle,
                                       .rests = true};
    transfer->sink = (struct sink){.take = proxy_take_body,
                                   .destroy = destroy_sink,
                                   .end = proxy_end_body,
                                   .foresee_end = proxy_foresee_end,
                                   .kept = proxy_kept,
                                   .ease = proxy_ease};
    transfer->lease.hash = hash_of(proxy, exchange);
    transfer->is_kept = true;
    transfer->has_body_ended = true;
    transfer->out_framing = BODY_NONE;
    transfer->is_upgrade = exchange->response.persists &&
                           relay_upgrades(relay, &exchange->request);
    transfer_lend_head(transfer);
    buf_init(&transfer->interim, NULL, 0, RELAY_HEAD_BYTES_MAX);
    buf_init(&transfer->trailer, NULL, 0, CHUNKED_TRAILER_BYTES_MAX);
    if (transfer->is_upgrade && exchange->request.minor == 1 &&
        exchange->request.expects_continue)
        say_continue(transfer);
    return transfer;
}

/* --- The handler --------------------------------------------------------- */

/* Answers CONNECT and TRACE, which are never passed on, and returns true.
 * Returns false for all other methods. */
static bool refuse(const struct proxy *proxy, struct exchange *exchange)
{
    switch (exchange->request.method) {
    case METHOD_CONNECT:
    case METHOD_TRACE:
        response_make_error(&exchange->response, 405, BYTES(PROXY_ALLOW),
                            proxy->options.defaults);
        return true;
    case METHOD_GET:
    case METHOD_HEAD:
    case METHOD_OPTIONS:
    case METHOD_POST:
    case METHOD_PUT:
    case METHOD_DELETE:
    case METHOD_PATCH:
    case METHOD_OTHER:
    case METHOD_COUNT:
        break;
    }
    return false;
}

static bool announces_body(const struct request *request)
{
    return request->is_chunked || request->content_length > 0;
}

/* Makes the head for the upstream. Returns false after it has answered a
 * request that cannot be passed on. */
static bool make_head(struct transfer *transfer)
{
    enum relay_verdict verdict = transfer_write_head(transfer, 0);

    if (verdict != RELAY_DONE)
        proxy_answer_verdict(transfer->proxy, transfer->exchange, verdict);
    return verdict == RELAY_DONE;
}

static void begin(void *self, struct exchange *exchange, struct bytes rest)
{
    struct proxy *proxy = self;
    struct transfer *transfer;

    (void)rest;
    if (refuse(proxy, exchange))
        return;
    transfer = make_transfer(proxy, exchange);
    if (transfer)
        transfer->out = proxy_buffer_take(proxy);
    if (!transfer || !transfer->out) {
        if (transfer)
            transfer_release(transfer);
        proxy_answer_fault(proxy, exchange, PROXY_FAULT_SHORT);
        return;
    }
    transfer->has_body_ended = false;
    transfer->is_upgrade = false;
    transfer->out_framing = exchange->request.is_chunked ? BODY_CHUNKED
                                                         : BODY_LENGTH;
    /* With Expect, the upstream decides whether the body is sent (RFC 9110
     * 10.1.1). */
    transfer->is_held = proxy->options.request_bytes > 0 &&
                        !exchange->request.expects_continue;
    if (make_head(transfer))
        exchange->sink = &transfer->sink;
    else
        transfer_release(transfer);
}

static void answer(void *self, struct exchange *exchange, struct bytes rest)
{
    struct proxy *proxy = self;
    struct transfer *transfer;

    (void)rest;
    if (exchange->sink) {
        assert(exchange->sink->take == proxy_take_body);
        transfer = OWNER_OF(exchange->sink, struct transfer, sink);
        transfer->refs++;
    } else {
        if (refuse(proxy, exchange))
            return;
        /* A body that nobody takes must not be announced: the upstream would
         * take the next request for this body. */
        if (announces_body(&exchange->request)) {
            bad_request_answer(exchange, REASON_BODY_UNWANTED,
                               proxy->options.defaults);
            return;
        }
        transfer = make_transfer(proxy, exchange);
        if (!transfer) {
            proxy_answer_fault(proxy, exchange, PROXY_FAULT_SHORT);
            return;
        }
        if (!make_head(transfer)) {
            transfer_release(transfer);
            return;
        }
    }
    exchange->pending = &transfer->pending;
    transfer->is_admitted = true;
    transfer_ask_if_due(transfer);
}

/* Returns how to treat an encoded slash. If the prefix of paths is replaced, a
 * slash of the old path might not be a slash of the new path. */
static enum handler_slash slash_of(const struct proxy_options *options)
{
    if (options->slash == PROXY_SLASH_PASS)
        return HANDLER_SLASH_ALWAYS;
    return options->relay.replace.len == 0 ? HANDLER_SLASH_ALIKE
                                           : HANDLER_SLASH_NEVER;
}

struct handler proxy_handler(struct proxy *proxy)
{
    return (struct handler){.answer = answer,
                            .begin = begin,
                            .self = proxy,
                            .slash = slash_of(&proxy->options)};
}

struct proxy *proxy_create(const struct proxy_options *options)
{
    struct proxy *proxy = calloc(1, sizeof(*proxy));

    if (!proxy)
        return NULL;
    proxy->options = *options;
    proxy->relay = options->relay;
    proxy->on_fault = transfer_fail;
    pool_init(&proxy->transfers, sizeof(struct transfer), PROXY_TRANSFERS_KEPT);
    pool_init(&proxy->heads, PROXY_HEAD_BYTES, PROXY_HEADS_KEPT);
    pool_init(&proxy->buffers,
              sizeof(struct proxy_buffer) + options->buffer_bytes +
                  PROXY_TAKEN_BYTES,
              PROXY_BUFFERS_KEPT);
    if (trace_init(&proxy->trace) == 0)
        proxy->pool = upstream_pool_create(&options->upstream);
    if (proxy->pool)
        return proxy;
    free(proxy);
    return NULL;
}

int proxy_start(struct proxy *proxy, const struct upstream_loop *loop)
{
    proxy->loop = loop->loop;
    proxy->now = loop->now;
    deadline_wheel_init(&proxy->deadlines, loop->loop, loop->now, on_expired,
                        proxy);
    return upstream_pool_start(proxy->pool, loop);
}

void proxy_destroy(struct proxy *proxy)
{
    if (!proxy)
        return;
    upstream_pool_destroy(proxy->pool);
    if (proxy->loop)
        deadline_wheel_fini(&proxy->deadlines);
    pool_fini(&proxy->transfers);
    pool_fini(&proxy->heads);
    pool_fini(&proxy->buffers);
    free(proxy);
}

void proxy_report(struct proxy *proxy,
                  void (*hear)(void *context, const struct exchange *exchange,
                               const struct reply *reply,
                               const struct relay *relay),
                  void *context)
{
    proxy->hear = hear;
    proxy->hear_context = context;
}

struct upstream_pool *proxy_pool(const struct proxy *proxy)
{
    return proxy->pool;
}
