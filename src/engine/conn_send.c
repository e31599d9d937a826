#include <errno.h>
#include <sys/socket.h>

#include "base/now.h"
#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "observe/profile.h"

enum {
    LINGER_MS = 10000,               /* in all */
    LINGER_BYTES_MAX = 64 * 1048576, /* in all */
    MS_PER_S = 1000
};

static struct exchange *first_exchange(const struct conn *conn)
{
    return OWNER_OF(conn->exchanges.next, struct exchange, link);
}

/* What the scheduler orders by: the bytes left of all that leaves together. Of
 * a stream of unknown length the bytes it has had since it waited last, if
 * ever, stand for them. */
struct waiting {
    uint64_t bytes;
    bool is_stream;
};

static struct waiting count_waiting(const struct conn *conn)
{
    struct waiting waiting = {0};

    for (struct list *link = conn->exchanges.next; link != &conn->exchanges;
         link = link->next) {
        const struct response *response =
            &OWNER_OF(link, struct exchange, link)->response;

        waiting.bytes += response->bytes_left;
        if (response->stream && response->has_length) {
            waiting.bytes += response->length_left;
        } else if (response->stream) {
            waiting.bytes += response->bytes_sent - response->bytes_before;
            waiting.is_stream = true;
        }
    }
    return waiting;
}

uint64_t conn_blocked_until(const struct conn *conn)
{
    const struct conn_limits *limits = &conn->set->limits;
    uint64_t now_ms = conn->set->now->mono_ms;
    uint64_t sent = first_exchange(conn)->response.bytes_sent;
    uint64_t allowed;

    if (limits->send_rate_min == 0)
        return now_ms + limits->send_ms;
    /* Full sockets may cost so much time in all, for what has been sent. */
    allowed = limits->send_ms + sent * MS_PER_S / limits->send_rate_min;
    if (allowed <= conn->blocked_ms)
        return now_ms;
    allowed -= conn->blocked_ms;
    return now_ms + (allowed < limits->send_ms ? allowed : limits->send_ms);
}

/* --- The end of an exchange, and of a connection ------------------------- */

static struct bytes field_value(const struct request *request, enum field_id id)
{
    const struct field *field = request_find(request, id);

    return field ? field->value : (struct bytes){"", 0};
}

void conn_log_event(const struct conn *conn, enum log_event event)
{
    struct log_entry entry = {
        .event = event,
        .peer = &conn->peer,
        .connection = conn->number,
        .requests = conn->finished,
        .reason = bytes_of(conn_end_name((enum conn_end)conn->end))};
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    if (access_log_tells(conn->set->access_log, event))
        access_log_put(conn->set->access_log, &entry);
    profile_leave(before);
}

/* Of a request that was none only the line is known. */
static struct bytes protocol_of(const struct request *request)
{
    return request->method_name.len == 0 ? BYTES("")
           : request->minor == 0         ? BYTES("HTTP/1.0")
                                         : BYTES("HTTP/1.1");
}

static void log_exchange(const struct conn *conn,
                         const struct exchange *exchange)
{
    const struct request *request = &exchange->request;
    const struct response *response = &exchange->response;
    struct exchange_times times = exchange->times;
    struct log_entry entry = {
        .event = LOG_EVENT_REQUEST,
        .peer = exchange->peer,
        .connection = conn->number,
        .requests = conn->finished,
        .request_line = request->line,
        .method = request->method_name,
        .target = request->target,
        .path = request->path,
        .query = request->query,
        .protocol = protocol_of(request),
        .host = request->host,
        .referer = field_value(request, FIELD_REFERER),
        .user_agent = field_value(request, FIELD_USER_AGENT),
        .status = response->status,
        .keep_alive = response->persists,
        .is_complete = times.last_ns != 0,
        .body_bytes = response->bytes_sent > response->head_bytes
                          ? response->bytes_sent - response->head_bytes
                          : 0,
        .sent_bytes = response->bytes_sent,
        .read_bytes = exchange->bytes_in};

    if (!entry.is_complete) /* it is broken off now */
        times.last_ns = now_read_ns();
    if (times.first_ns == 0)
        times.first_ns = times.last_ns;
    entry.total_ns = times.last_ns - times.read_ns;
    entry.queue_ns = times.first_ns - times.ready_ns;
    entry.service_ns = times.last_ns - times.first_ns;
    access_log_put(conn->set->access_log, &entry);
}

void conn_give_exchange(struct conn *conn, struct exchange *exchange)
{
    if (exchange->sink)
        exchange->sink->destroy(exchange->sink);
    if (exchange->keeper.object)
        exchange->keeper.release(exchange->keeper.object);
    exchange_give(conn->set, exchange);
}

void conn_finish_exchange(struct conn *conn, struct exchange *exchange)
{
    list_drop(&exchange->link);
    conn->finished++;
    if (access_log_tells(conn->set->access_log, LOG_EVENT_REQUEST))
        log_exchange(conn, exchange);
    conn_note_exchange(conn, exchange);
    response_fini(&exchange->response);
    conn_give_exchange(conn, exchange);
}

/* Something of the row has just been handed over. */
static void finish_sent(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);
    uint64_t now_ns = now_read_ns();

    while (!list_is_empty(&conn->exchanges)) {
        struct exchange *exchange = first_exchange(conn);

        bool is_done = response_is_done(&exchange->response);

        if (exchange->times.first_ns == 0 &&
            (is_done || exchange->response.bytes_sent > 0))
            exchange->times.first_ns = now_ns;
        if (!is_done)
            break;
        exchange->times.last_ns = now_ns;
        if (exchange == conn->current)
            conn_end_upload(conn);
        conn_heed(conn, &exchange->response); /* it may have come late */
        drain_note_answer(&conn->set->drain, conn->io.fd,
                          exchange->response.bytes_sent, now_ns);
        conn_finish_exchange(conn, exchange);
        conn->blocked_ms = 0;
    }
    profile_leave(before);
}

static bool is_drained(const struct conn *conn)
{
    return !conn->input || conn->input->begin == conn->input->end;
}

/* Whether the connection ends with what has been sent. When the server is
 * about to stop, it does unless the next request has begun. */
static bool is_over(const struct conn *conn)
{
    return conn->is_closing ||
           (conn->set->is_draining && !conn->current && is_drained(conn));
}

/* False: the client is gone already. */
static bool shut_down(const struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_OTHER);
    bool is_shut = shutdown(conn->io.fd, SHUT_WR) == 0;

    profile_leave(before);
    return is_shut;
}

/* All has been sent and nothing more will be. When the client may still be
 * sending, closing at once would make the kernel answer with a reset, which
 * can destroy what the client has not read yet (RFC 9112 9.6). */
static void end(struct conn *conn)
{
    conn_decide_end(conn, CONN_END_DRAIN);
    if ((conn->client_closes && is_drained(conn) &&
         !link_watches(&conn->set->link, &conn->flow)) ||
        !shut_down(conn)) {
        conn_close(conn, CONN_END_CLIENT);
        return;
    }
    input_give(conn->set, &conn->input);
    conn->linger_until_ms = conn->set->now->mono_ms + LINGER_MS;
    conn->linger_bytes = LINGER_BYTES_MAX;
    conn_enter(conn, CONN_LINGERING);
    conn_linger(conn);
}

void conn_linger(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    struct conn_set *set = conn->set;
    ssize_t n = recv(conn->io.fd, set->discard, sizeof(set->discard), 0);

    profile_leave(before);
    if (n == -1 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || (size_t)n >= conn->linger_bytes ||
        set->now->mono_ms >= conn->linger_until_ms) {
        conn_close(conn, CONN_END_CLIENT);
        return;
    }
    conn->linger_bytes -= (uint32_t)n;
    conn_enter(conn, CONN_LINGERING);
}

/* --- Sending ------------------------------------------------------------- */

void conn_give_up(struct conn *conn)
{
    sched_drop(&conn->set->sched, &conn->item);
    sched_sent(&conn->set->sched, count_waiting(conn).bytes);
}

void conn_queue(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);

    sched_put(&conn->set->sched, &conn->item, count_waiting(conn).bytes);
    conn_enter(conn, CONN_QUEUED);
    profile_leave(before);
}

/* How much of it the link lets through now; 0: it has to wait. */
static uint64_t allow(struct conn *conn)
{
    struct conn_set *set = conn->set;
    uint64_t quantum = set->limits.quantum;
    struct waiting waiting;

    if (set->link.shared->mode == LINK_OFF)
        return quantum;
    waiting = count_waiting(conn);
    set->link.base = sched_base(&set->sched);
    return link_allow(&set->link, &conn->flow,
                      sched_key(&set->sched, &conn->item, waiting.bytes),
                      waiting.is_stream || waiting.bytes > quantum
                          ? quantum
                          : waiting.bytes);
}

static void note_sent(struct conn *conn, uint64_t sent)
{
    struct conn_set *set = conn->set;
    struct waiting waiting;

    sched_sent(&set->sched, sent);
    if (set->link.shared->mode == LINK_OFF)
        return;
    waiting = count_waiting(conn);
    link_handed(&set->link, &conn->flow, sent,
                waiting.bytes > 0
                    ? sched_key(&set->sched, &conn->item, waiting.bytes)
                    : 0,
                set->now->mono_ms);
}

static enum sender_result send_step(struct conn *conn, uint64_t budget,
                                    uint64_t *sent_out)
{
    enum stats_phase before = profile_enter(STATS_PHASE_SEND);
    enum sender_result result = sender_step(&conn->set->sender, conn->io.fd,
                                            &conn->exchanges, budget, sent_out);

    profile_leave(before);
    return result;
}

/* Sends up to a quantum; what is left waits. *sent_out counts the bytes. */
static enum conn_progress send_quantum(struct conn *conn, uint64_t *sent_out)
{
    struct conn_set *set = conn->set;
    uint64_t budget = allow(conn);

    if (budget == 0) {
        set->is_held = true;
        conn_queue(conn);
        return CONN_WAITS;
    }
    if (set->style.server_timing)
        conn_time_sending(conn);
    for (;;) {
        uint64_t sent;
        enum sender_result result = send_step(conn, budget, &sent);

        *sent_out += sent;
        budget -= sent;
        note_sent(conn, sent);
        if (result == SENDER_FAILED) {
            conn_close(conn, CONN_END_ERROR);
            return CONN_ENDED;
        }
        finish_sent(conn);
        if (list_is_empty(&conn->exchanges)) {
            if (!is_over(conn))
                return CONN_SENT;
            end(conn);
            return CONN_ENDED;
        }
        if (first_exchange(conn)->is_tunnel && !conn->is_closing)
            conn_begin_tunnel(conn);
        if (result == SENDER_LATER && first_exchange(conn)->is_half_closed)
            shut_down(conn); /* who is gone is noticed on reading */
        if (result == SENDER_FULL || result == SENDER_LATER) {
            conn_enter(conn,
                       result == SENDER_FULL ? CONN_BLOCKED : CONN_WAITING);
            return CONN_WAITS;
        }
        if (budget == 0 || sent == 0) {
            conn_queue(conn);
            return CONN_WAITS;
        }
    }
}

enum conn_progress conn_submit(struct conn *conn)
{
    struct conn_set *set = conn->set;
    enum stats_phase before = profile_enter(STATS_PHASE_SCHEDULE);
    struct waiting waiting = count_waiting(conn);
    enum conn_progress progress = CONN_WAITS;
    uint64_t sent = 0;

    sched_arrive(&set->sched, &conn->item, waiting.bytes, waiting.is_stream);
    if (set->style.server_timing)
        conn_time_arrival(conn, waiting.bytes);
    /* What is not more than a quantum and comes before all that wait would be
     * taken next anyway. */
    if (waiting.bytes <= set->limits.quantum &&
        sched_goes_first(&set->sched, &conn->item, waiting.bytes)) {
        if (sched_overtakes(&set->sched, &conn->item))
            stats_note_overtake(set->stats);
        progress = send_quantum(conn, &sent);
    } else {
        conn_queue(conn);
    }
    profile_leave(before);
    return progress;
}

void conn_on_wake(struct exchange *exchange)
{
    struct conn *conn = exchange->conn;

    if (conn->is_uploading && exchange == conn->current)
        conn_watch_upload(conn);
    if (conn->state == CONN_WAITING && exchange == first_exchange(conn))
        conn_wake(conn);
}

void conn_wake(struct conn *conn)
{
    struct waiting waiting = count_waiting(conn);

    list_drop(&conn->wait_node);
    sched_arrive(&conn->set->sched, &conn->item, waiting.bytes,
                 waiting.is_stream);
    conn_queue(conn);
}

uint64_t conn_run(struct conn *conn)
{
    uint64_t sent = 0;

    if (send_quantum(conn, &sent) == CONN_SENT)
        conn_advance(conn);
    return sent;
}
