#include "engine/session_log.h"

#include <stdio.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"
#include "engine/exchange_log.h"

/* Returns the address of the client. The handler, which looks for the address
 * that a trusted proxy tells, is not asked about a request that is refused
 * before. Such a request must not count as the proxy's own: whoever bans by the
 * log would ban the proxy, and so all of its clients. */
static struct address find_client(const struct session *session,
                                  const struct exchange *exchange)
{
    const struct forwarded_trust *trust = &session->context->trust;

    return trust->field != FORWARDED_NONE &&
                   exchange->peer == exchange->neighbour
               ? forwarded_client(&exchange->request, exchange->peer, trust)
               : *exchange->peer;
}

/* --- The access log ------------------------------------------------------ */

static struct bytes field_value(const struct request *request, enum field_id id)
{
    const struct field *field = request_find(request, id);

    return field ? field->value : (struct bytes){"", 0};
}

/* Returns the name of the request's protocol; empty for a request that could
 * not be parsed. */
static struct bytes protocol_of(const struct request *request)
{
    return request->method_name.len == 0     ? BYTES("")
           : request->minor == REQUEST_HTTP2 ? BYTES("HTTP/2.0")
           : request->minor == 0             ? BYTES("HTTP/1.0")
                                             : BYTES("HTTP/1.1");
}

static uint64_t body_bytes(const struct response *response)
{
    return response->bytes_sent > response->head_bytes
               ? response->bytes_sent - response->head_bytes
               : 0;
}

void session_log_exchange(const struct session *session,
                          const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct response *response = &exchange->response;
    struct exchange_times times = exchange->times;
    const struct access_log_buffer *log = session->context->access_log;
    struct address client = find_client(session, exchange);
    struct log_upstream upstream;
    struct log_tls tls;
    struct log_entry entry = {
        .event = LOG_EVENT_REQUEST,
        .peer = &client,
        .connection = session->number,
        .requests = session->finished,
        .request_line = request->line,
        .method = request->method_name,
        .target = request->target,
        .path = request->path,
        .query = request->query,
        .protocol = protocol_of(request),
        .host = request->host,
        .referer = field_value(request, FIELD_REFERER),
        .user_agent = field_value(request, FIELD_USER_AGENT),
        .reason = reason_word((enum reason)response->reason),
        .status = response->status,
        .keep_alive = response->persists,
        .is_complete = times.last_ns != 0,
        .body_bytes = body_bytes(response),
        .sent_bytes = response->bytes_sent,
        .read_bytes = exchange->bytes_in};

    if (!entry.is_complete) /* the response is broken off now */
        times.last_ns = now_read_ns();
    if (times.first_ns == 0)
        times.first_ns = times.last_ns;
    entry.total_ns = times.last_ns - times.read_ns;
    entry.queue_ns = times.first_ns - times.ready_ns;
    entry.service_ns = times.last_ns - times.first_ns;
    exchange_log_describe(exchange, &entry, &upstream);
    if (log->needs.tls)
        exchange_log_describe_tls(exchange, &entry, &tls);
    if (log->needs.tls_client)
        exchange_log_describe_client(exchange, &tls);
    access_log_put(session->context->access_log, &entry);
}

/* --- Standard error ------------------------------------------------------ */

enum {
    /* The first TOLD_AT_ONCE refusals are logged at once, and then one in each
     * TOLD_EVERY_MS. */
    TOLD_AT_ONCE = 20,
    TOLD_EVERY_MS = 50,
    TOLD_LINE_BYTES_MAX = 200
};

void session_tell_refusal(const struct session *session,
                          const struct exchange *exchange)
{
    struct session_context *context = session->context;
    const struct response *response = &exchange->response;
    struct bytes word = reason_word((enum reason)response->reason);
    struct bytes text = reason_text((enum reason)response->reason);
    struct bytes line = exchange->request.line;
    struct address client;
    char name[ADDRESS_TEXT_MAX];
    char more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (!log_limit_allows_burst(&context->refusals, context->now->mono_ms,
                                TOLD_EVERY_MS, TOLD_AT_ONCE, &held_back))
        return;
    if (line.len > TOLD_LINE_BYTES_MAX)
        line.len = TOLD_LINE_BYTES_MAX;
    client = find_client(session, exchange);
    log_info("refused %.*s: %u %.*s: %.*s '%.*s'%s",
             (int)address_format(&client, name), name, response->status,
             (int)word.len, word.data, (int)text.len, text.data, (int)line.len,
             line.len > 0 ? line.data : "", log_held_back(held_back, more));
}

/* --- Statistics ---------------------------------------------------------- */

void session_count_exchange(const struct session *session,
                            const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct response *response = &exchange->response;
    const struct exchange_times *times = &exchange->times;
    struct address client = find_client(session, exchange);
    struct stats_exchange sum = {
        .method = request->method,
        .status = response->bytes_sent > 0 ? response->status : 0,
        .bytes_in = exchange->bytes_in,
        .bytes_out = response->bytes_sent,
        .body_bytes = body_bytes(response),
        .wall_ns = session->context->now->wall_ns,
        .target = request->target,
        .peer = &client,
        .is_complete = times->last_ns != 0,
        /* A response that had no length and waited for its next piece, such as
         * a stream of events, may have lasted until client or server ended it.
         * Its time says nothing about the server. */
        .is_endless = response->bytes_before > 0 && !response->has_length};

    _Static_assert(METHOD_COUNT <= (int)STATS_METHODS_MAX, "room for each");
    if (request->method_name.len == 0) { /* no request could be parsed */
        sum.method = METHOD_OTHER;
        sum.target = BYTES("");
    }
    if (sum.is_complete && !sum.is_endless) {
        sum.wait_ns = times->first_ns - times->ready_ns;
        sum.service_ns = times->last_ns - times->first_ns;
        sum.total_ns = times->last_ns - times->read_ns;
    }
    stats_note_exchange(session->context->stats, &sum);
}

/* --- Server-Timing ------------------------------------------------------- */

/* Tells the time in the queue, which is the time from the request's last byte
 * until now. */
void session_time_exchange(const struct session *session,
                           struct exchange *exchange, uint64_t now_ns)
{
    const char *use =
        response_cache_name((enum response_cache)exchange->response.cache_use);
    uint64_t us = (now_ns - exchange->times.ready_ns) / NS_PER_US;
    char text[RESPONSE_TIMING_BYTES + 1];
    int len = snprintf(text, sizeof(text),
                       "queue;dur=%llu.%03u, %s%s%ssched;desc=\"%u/%u\"",
                       (unsigned long long)(us / US_PER_MS),
                       (unsigned)(us % US_PER_MS), *use ? "cache;desc=" : "",
                       use, *use ? ", " : "", session->position,
                       session->waiting);

    response_set_timing(&exchange->response, (struct bytes){text, (size_t)len});
}
