#include "handler/bad_request.h"
#include "handler/proxy/proxy_priv.h"
#include "http/head_edit.h"

#include <stdio.h>

enum { COMPLAIN_MS = 1000 };

/* Texts for clients and the log. `token` is for Proxy-Status (RFC 9209 2.3). */
static const struct {
    unsigned status;
    const char *token;
    const char *text;
} faults[PROXY_FAULT_COUNT] = {
    [PROXY_FAULT_REFUSED] = {502, "connection_refused",
                             "cannot be connected to"},
    [PROXY_FAULT_UNRESOLVED] = {502, "dns_error", "has a name without address"},
    [PROXY_FAULT_TLS] = {502, "tls_protocol_error",
                         "cannot be spoken to over TLS"},
    [PROXY_FAULT_UNTRUSTED] = {502, "tls_certificate_error",
                               "has a certificate that is not believed"},
    [PROXY_FAULT_CONNECT] = {504, "connection_timeout",
                             "took too long to connect to"},
    [PROXY_FAULT_NOBODY] = {503, "destination_unavailable",
                            "is down, or has enough to do"},
    [PROXY_FAULT_SHORT] = {503, "proxy_internal_error",
                           "cannot be asked for want of resources here"},
    [PROXY_FAULT_SLOW] = {504, "http_response_timeout",
                          "took too long to answer"},
    [PROXY_FAULT_CLOSED] = {502, "http_response_incomplete",
                            "closed the connection without a whole answer"},
    [PROXY_FAULT_REPLY] = {502, "http_protocol_error",
                           "gave an answer that cannot be passed on"},
    /* See proxy_answer_intercepted(). */
    [PROXY_FAULT_INTERCEPTED] = {0, "", ""}};

enum proxy_fault proxy_fault_of(enum upstream_error error)
{
    switch (error) {
    case UPSTREAM_OK:
        break;
    case UPSTREAM_REFUSED:
        return PROXY_FAULT_REFUSED;
    case UPSTREAM_UNRESOLVED:
        return PROXY_FAULT_UNRESOLVED;
    case UPSTREAM_TLS:
        return PROXY_FAULT_TLS;
    case UPSTREAM_UNTRUSTED:
        return PROXY_FAULT_UNTRUSTED;
    case UPSTREAM_TIMEOUT:
        return PROXY_FAULT_CONNECT;
    case UPSTREAM_NONE:
        return PROXY_FAULT_NOBODY;
    case UPSTREAM_SHORT:
        return PROXY_FAULT_SHORT;
    }
    return PROXY_FAULT_NONE;
}

/* Whether the proxy itself logs a fault; the pool logs failures to connect. */
static bool is_ours_to_tell(enum proxy_fault fault)
{
    return fault == PROXY_FAULT_SLOW || fault == PROXY_FAULT_CLOSED ||
           fault == PROXY_FAULT_REPLY;
}

void proxy_log_fault(struct proxy *proxy, const struct upstream_lease *lease,
                     enum proxy_fault fault)
{
    const char *why = proxy->why;
    const char *tls_why = proxy->tls_why;
    struct bytes name;
    char about[UPSTREAM_LEASE_TEXT_BYTES], more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    proxy->why = proxy->tls_why = NULL;
    if (!is_ours_to_tell(fault) ||
        !log_limit_allows(&proxy->log_limit, proxy->now->mono_ms, COMPLAIN_MS,
                          &held_back))
        return;
    name = upstream_name(upstream_endpoint_of(proxy->pool, lease->server));
    log_warning("upstream '%.*s' %s%s%s%s%s%s%s", (int)name.len, name.data,
                faults[fault].text, why ? ": it " : "", why ? why : "",
                tls_why ? ": TLS: " : "", tls_why ? tls_why : "",
                upstream_describe_ask(lease, about),
                log_held_back(held_back, more));
}

static void answer(const struct proxy *proxy, struct exchange *exchange,
                   unsigned status, struct bytes fields, struct bytes text)
{
    response_make_short(&exchange->response, status, fields,
                        BYTES("text/plain; charset=utf-8"), text,
                        proxy->options.defaults);
    exchange->response.is_error = true; /* an error page may replace the text */
}

void proxy_answer_fault(const struct proxy *proxy, struct exchange *exchange,
                        enum proxy_fault fault)
{
    const struct bytes *name = &proxy->options.relay.pseudonym;
    const char *quote = head_is_sf_token(*name) ? "" : "\"";
    char fields[256], text[160], retry[40] = "";
    int field_len, len;

    if (faults[fault].status == 503)
        snprintf(retry, sizeof(retry), "Retry-After: %u\r\n",
                 upstream_retry_after_s(proxy->pool));
    field_len = snprintf(fields, sizeof(fields),
                         "%sProxy-Status: %s%.*s%s; error=%s\r\n"
                         "Cache-Control: no-store\r\n",
                         retry, quote, (int)name->len, name->data, quote,
                         faults[fault].token);
    len = snprintf(text, sizeof(text), "The server behind this one %s.\n",
                   faults[fault].text);
    answer(proxy, exchange, faults[fault].status,
           (struct bytes){fields, (size_t)field_len},
           (struct bytes){text, (size_t)len});
}

void proxy_answer_intercepted(struct transfer *transfer)
{
    response_make_error(&transfer->exchange->response, transfer->intercepted,
                        buf_bytes(&transfer->head),
                        transfer->proxy->options.defaults);
}

void proxy_answer_verdict(const struct proxy *proxy, struct exchange *exchange,
                          enum relay_verdict verdict)
{
    if (verdict == RELAY_LAST) { /* an OPTIONS for this server itself */
        response_begin(&exchange->response, 204, proxy->options.defaults);
        buf_put_literal(&exchange->response.head, PROXY_ALLOW);
        response_add_head(&exchange->response);
        return;
    }
    bad_request_answer(exchange, relay_reason(verdict),
                       proxy->options.defaults);
}
