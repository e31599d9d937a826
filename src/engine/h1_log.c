#include <stdio.h>

#include "base/log.h"
#include "base/now.h"
#include "base/units.h"
#include "engine/exchange_log.h"
#include "engine/h1_priv.h"

/* --- The access log -------------------------------------------------------- */

static struct bytes field_value(const struct request *request, enum field_id id)
{
    const struct field *field = request_find(request, id);

    return field ? field->value : (struct bytes){"", 0};
}

/* Of a request that was none only the line is known. */
static struct bytes protocol_of(const struct request *request)
{
    return request->method_name.len == 0 ? BYTES("")
           : request->minor == 0         ? BYTES("HTTP/1.0")
                                         : BYTES("HTTP/1.1");
}

static uint64_t body_bytes(const struct response *response)
{
    return response->bytes_sent > response->head_bytes
               ? response->bytes_sent - response->head_bytes
               : 0;
}

void h1_log_exchange(const struct h1 *h1, const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct response *response = &exchange->response;
    struct exchange_times times = exchange->times;
    struct log_upstream upstream;
    struct log_entry entry = {
        .event = LOG_EVENT_REQUEST,
        .peer = exchange->peer,
        .connection = h1->session.number,
        .requests = h1->session.finished,
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

    if (!entry.is_complete) /* it is broken off now */
        times.last_ns = now_read_ns();
    if (times.first_ns == 0)
        times.first_ns = times.last_ns;
    entry.total_ns = times.last_ns - times.read_ns;
    entry.queue_ns = times.first_ns - times.ready_ns;
    entry.service_ns = times.last_ns - times.first_ns;
    exchange_log_describe(exchange, &entry, &upstream);
    access_log_put(h1_context(h1)->access_log, &entry);
}

/* --- Standard error -------------------------------------------------------- */

enum {
    /* Refusals that are told of: so many at once, then one each. */
    TOLD_AT_ONCE = 20,
    TOLD_EVERY_MS = 50,
    TOLD_LINE_BYTES_MAX = 200
};

void h1_tell_refusal(const struct h1 *h1, const struct exchange *exchange)
{
    struct session_context *context = h1_context(h1);
    const struct response *response = &exchange->response;
    struct bytes word = reason_word((enum reason)response->reason);
    struct bytes text = reason_text((enum reason)response->reason);
    struct bytes line = exchange->request.line;
    char peer[ADDRESS_TEXT_MAX];
    char more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;

    if (!log_limit_allows_burst(&context->refusals, h1_now_ms(h1),
                                TOLD_EVERY_MS, TOLD_AT_ONCE, &held_back))
        return;
    if (line.len > TOLD_LINE_BYTES_MAX)
        line.len = TOLD_LINE_BYTES_MAX;
    log_info("refused %.*s: %u %.*s: %.*s '%.*s'%s",
             (int)address_format(exchange->peer, peer), peer, response->status,
             (int)word.len, word.data, (int)text.len, text.data, (int)line.len,
             line.len > 0 ? line.data : "", log_held_back(held_back, more));
}

/* --- Statistics ------------------------------------------------------------ */

void h1_count_exchange(const struct h1 *h1, const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct response *response = &exchange->response;
    const struct exchange_times *times = &exchange->times;
    struct stats_exchange sum = {
        .method = request->method,
        .status = response->bytes_sent > 0 ? response->status : 0,
        .bytes_in = exchange->bytes_in,
        .bytes_out = response->bytes_sent,
        .body_bytes = body_bytes(response),
        .wall_ns = h1_context(h1)->now->wall_ns,
        .target = request->target,
        .peer = exchange->peer,
        .is_complete = times->last_ns != 0,
        /* What waited for its next piece took as long as it wanted to, and
         * ends when the client or the server has enough of it; unless it was
         * known from the beginning when that is. */
        .is_endless = response->bytes_before > 0 && !response->has_length};

    _Static_assert(METHOD_COUNT <= (int)STATS_METHODS_MAX, "room for each");
    if (request->method_name.len == 0) { /* that was no request */
        sum.method = METHOD_OTHER;
        sum.target = BYTES("");
    }
    if (sum.is_complete && !sum.is_endless) {
        sum.wait_ns = times->first_ns - times->ready_ns;
        sum.service_ns = times->last_ns - times->first_ns;
        sum.total_ns = times->last_ns - times->read_ns;
    }
    stats_note_exchange(h1_context(h1)->stats, &sum);
}

/* --- Server-Timing --------------------------------------------------------- */

/* queue: from the request's last byte until now. */
static void put_timing(const struct session *session, struct exchange *exchange,
                       uint64_t now_ns)
{
    static const char *const uses[] = {
        [RESPONSE_CACHE_UNASKED] = "",
        [RESPONSE_CACHE_HIT] = "cache;desc=hit, ",
        [RESPONSE_CACHE_MISS] = "cache;desc=miss, "};
    uint64_t us = (now_ns - exchange->times.ready_ns) / NS_PER_US;
    char text[RESPONSE_TIMING_BYTES + 1];
    int len = snprintf(text, sizeof(text),
                       "queue;dur=%llu.%03u, %ssched;desc=\"%u/%u\"",
                       (unsigned long long)(us / US_PER_MS),
                       (unsigned)(us % US_PER_MS),
                       uses[exchange->response.cache_use], session->position,
                       session->waiting);

    response_set_timing(&exchange->response, (struct bytes){text, (size_t)len});
}

/* All that has not begun leaves now, or later as one of it. */
void h1_time_sending(const struct h1 *h1)
{
    uint64_t now_ns = now_read_ns();

    for (const struct list *link = h1->exchanges.next; link != &h1->exchanges;
         link = link->next) {
        struct exchange *exchange = OWNER_OF(link, struct exchange, link);

        if (exchange->response.bytes_sent == 0)
            put_timing(&h1->session, exchange, now_ns);
    }
}
