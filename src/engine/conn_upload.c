#include <errno.h>
#include <sys/socket.h>

#include "base/now.h"
#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "observe/profile.h"

/* --- Watching ------------------------------------------------------------- */

/* What the answer waits for, besides. */
static int events_of_answer(const struct conn *conn)
{
    return conn->state == CONN_BLOCKED ? EV_WRITE : 0;
}

void conn_watch_upload(struct conn *conn)
{
    bool is_full = conn->current->sink->is_full;
    bool is_resumed = !is_full &&
                      !(ev_is_active(&conn->io) && conn->io.events & EV_READ);

    conn_watch(conn, events_of_answer(conn) | (is_full ? 0 : EV_READ));
    if (is_resumed) /* what made it wait was not its client */
        conn->body_since_ms = conn->set->now->mono_ms;
    if (conn->state == CONN_BLOCKED) /* which has a limit */
        return;
    if (is_full || conn->current->is_tunnel)
        conn_limit_look(conn); /* for how long is up to whoever is slow */
    else if (conn->state == CONN_WAITING)
        conn_limit_body(conn);
}

/* Beside the answer alone. */
static void watch_answer(struct conn *conn)
{
    bool is_tunnel = conn->current->is_tunnel;

    conn->is_uploading = false;
    conn->current = NULL;
    if (conn->state == CONN_BLOCKED) {
        conn_watch(conn, EV_WRITE);
    } else if (is_tunnel) {
        conn_watch(conn, 0);
        conn_limit_look(conn);
    } else {
        conn_watch(conn, EV_READ);
        conn_limit(conn, 0);
    }
}

/* --- The end of it ---------------------------------------------------------- */

void conn_end_upload(struct conn *conn)
{
    conn->is_uploading = false;
    conn->current = NULL;
    conn->is_closing = true;
    conn->client_closes = false;
    conn_decide_end(conn, CONN_END_ERROR);
}

/* Heads before it, which have been sent, are nothing of the answer. */
static bool has_begun(const struct response *response)
{
    return response->bytes_sent > 0 &&
           (response->status != 0 || response->bytes_left > 0);
}

/* What comes is no body, or comes too slowly: while nothing of the answer has
 * been sent that is the answer. */
static void fail(struct conn *conn, unsigned status, enum conn_end end)
{
    struct exchange *exchange = conn->current;

    if (has_begun(&exchange->response)) {
        conn_close(conn, end);
        return;
    }
    conn_end_upload(conn);
    conn_expect_last(conn, exchange, end);
    response_make_error(&exchange->response, status, (struct bytes){"", 0},
                        &conn->set->style);
    if (conn->state == CONN_WAITING)
        conn_wake(conn);
}

void conn_expire_upload(struct conn *conn)
{
    fail(conn, 408, CONN_END_TIMEOUT);
}

/* The rest is of nobody's interest; the answer goes on. */
static void give_up(struct conn *conn)
{
    struct exchange *exchange = conn->current;

    conn->current->response.persists = false;
    watch_answer(conn);
    conn_expect_last(conn, exchange, CONN_END_ERROR);
    conn->client_closes = false;
    if (conn->state == CONN_WAITING) {
        conn_watch(conn, 0); /* what still comes is read when all is sent */
        conn_limit_look(conn);
    }
}

static void finish(struct conn *conn)
{
    struct exchange *exchange = conn->current;

    exchange->body_bytes = conn->body_bytes;
    if (exchange->times.first_ns == 0)
        exchange->times.ready_ns = now_read_ns();
    watch_answer(conn);
    exchange->sink->end(exchange->sink);
}

/* --- Taking it in ----------------------------------------------------------- */

static void take(struct conn *conn)
{
    struct exchange *exchange = conn->current;
    struct input *input = conn->input;
    size_t before = input->begin;

    switch (conn_take_body(conn)) {
    case CONN_TAKEN_MORE:
        exchange->bytes_in += input->end - before;
        input->begin = input->end = conn->body_at;
        conn_watch_upload(conn);
        break;
    case CONN_TAKEN_ALL:
        exchange->bytes_in += input->begin - before;
        finish(conn);
        break;
    case CONN_TAKEN_NOT:
        if (conn_has_too_much(conn))
            fail(conn, 413, CONN_END_ERROR);
        else
            give_up(conn);
        break;
    case CONN_TAKEN_BAD:
        fail(conn, 400, CONN_END_ERROR);
        break;
    }
}

void conn_begin_upload(struct conn *conn)
{
    conn->is_uploading = true;
    conn->body_since_ms = conn->set->now->mono_ms;
    conn_answer(conn, conn->current);
    take(conn);
}

void conn_begin_tunnel(struct conn *conn)
{
    conn->current = OWNER_OF(conn->exchanges.next, struct exchange, link);
    conn->is_uploading = true;
    conn->is_closing = true; /* nothing is parsed any more */
    conn->body_left = UINT64_MAX;
    conn->body_bytes = 0;
    conn_make_room(conn);
    conn->body_at = (uint32_t)conn->input->begin;
    take(conn);
}

void conn_read_upload(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    struct input *input = conn->input;
    ssize_t n = recv(conn->io.fd, input->data + input->end,
                     INPUT_BYTES - input->end, 0);

    profile_leave(before);
    if (n > 0) {
        input->last_ns = now_read_ns();
        input->end += (size_t)n;
        take(conn);
    } else if (n == 0 && conn->current->is_tunnel) {
        finish(conn);
    } else if (n == 0) {
        conn_close(conn, CONN_END_CLIENT);
    } else if (errno != EAGAIN && errno != EINTR) {
        conn_close(conn, CONN_END_ERROR);
    }
}
