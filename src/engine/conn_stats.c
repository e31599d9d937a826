#include <stdio.h>

#include "base/now.h"
#include "engine/conn_priv.h"
#include "http/exchange.h"

enum { NS_PER_US = 1000, US_PER_MS = 1000 };

static enum stats_close close_of(enum conn_end end)
{
    static const uint8_t reasons[] = {
        [CONN_END_NONE] = STATS_CLOSE_ERROR, /* never: conn_close() decides */
        [CONN_END_CLIENT] = STATS_CLOSE_CLIENT,
        [CONN_END_IDLE] = STATS_CLOSE_IDLE,
        [CONN_END_TIMEOUT] = STATS_CLOSE_TIMEOUT,
        [CONN_END_ERROR] = STATS_CLOSE_ERROR,
        [CONN_END_LIMIT] = STATS_CLOSE_LIMIT,
        [CONN_END_DRAIN] = STATS_CLOSE_DRAIN,
    };

    _Static_assert(sizeof(reasons) == CONN_END_COUNT, "one for each");
    _Static_assert(CONN_END_COUNT - 1 == (int)STATS_CLOSE_COUNT,
                   "and no two alike, but for none");
    return (enum stats_close)reasons[end];
}

void conn_note_close(const struct conn *conn)
{
    stats_note_close(conn->set->stats, close_of((enum conn_end)conn->end));
}

void conn_note_exchange(const struct conn *conn,
                        const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct response *response = &exchange->response;
    const struct exchange_times *times = &exchange->times;
    struct stats_exchange sum = {
        .method = request->method,
        .status = response->bytes_sent > 0 ? response->status : 0,
        .bytes_in = exchange->bytes_in,
        .bytes_out = response->bytes_sent,
        .wall_ns = conn->set->now->wall_ns,
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
    if (response->bytes_sent > response->head_bytes)
        sum.body_bytes = response->bytes_sent - response->head_bytes;
    if (sum.is_complete && !sum.is_endless) {
        sum.wait_ns = times->first_ns - times->ready_ns;
        sum.service_ns = times->last_ns - times->first_ns;
        sum.total_ns = times->last_ns - times->read_ns;
    }
    stats_note_exchange(conn->set->stats, &sum);
}

/* --- Server-Timing -------------------------------------------------------- */

void conn_time_arrival(struct conn *conn, uint64_t bytes)
{
    const struct sched *sched = &conn->set->sched;

    conn->position = (uint32_t)sched_count_before(sched, &conn->item, bytes) +
                     1;
    conn->waiting = sched->heap.count + 1;
}

/* queue: from the request's last byte until now. */
static void put_timing(const struct conn *conn, struct exchange *exchange,
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
                       uses[exchange->response.cache_use], conn->position,
                       conn->waiting);

    response_set_timing(&exchange->response, (struct bytes){text, (size_t)len});
}

/* All of the row that has not begun leaves now, or later as one of it. */
void conn_time_sending(struct conn *conn)
{
    uint64_t now_ns = now_read_ns();

    for (struct list *link = conn->exchanges.next; link != &conn->exchanges;
         link = link->next) {
        struct exchange *exchange = OWNER_OF(link, struct exchange, link);

        if (exchange->response.bytes_sent == 0)
            put_timing(conn, exchange, now_ns);
    }
}
