#include "engine/conn.h"

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/conn_priv.h"
#include "http/exchange.h"
#include "observe/profile.h"

enum { LINGER_IDLE_MS = 2000, IGNORED_EVENTS_MAX = 16, MS_PER_S = 1000 };

/* Which state may follow which; a bit for each. */
#define MAY(state) (1u << (state))
static const unsigned may_follow[] = {
    [CONN_READING] = MAY(CONN_READING) | MAY(CONN_BODY) | MAY(CONN_QUEUED) |
                     MAY(CONN_BLOCKED) | MAY(CONN_WAITING) |
                     MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_BODY] = MAY(CONN_READING) | MAY(CONN_BODY) | MAY(CONN_QUEUED) |
                  MAY(CONN_BLOCKED) | MAY(CONN_WAITING) | MAY(CONN_LINGERING) |
                  MAY(CONN_CLOSED),
    [CONN_QUEUED] = MAY(CONN_READING) | MAY(CONN_BODY) | MAY(CONN_QUEUED) |
                    MAY(CONN_BLOCKED) | MAY(CONN_WAITING) |
                    MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_BLOCKED] = MAY(CONN_QUEUED) | MAY(CONN_CLOSED),
    [CONN_WAITING] = MAY(CONN_QUEUED) | MAY(CONN_CLOSED),
    [CONN_LINGERING] = MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_CLOSED] = 0,
};

/* Costs no system call here: libev applies what has changed by the end of
 * the turn. */
void conn_watch(struct conn *conn, int events)
{
    if (ev_is_active(&conn->io)) {
        if ((conn->io.events & (EV_READ | EV_WRITE)) == events)
            return;
        ev_io_stop(conn->set->loop, &conn->io);
    }
    if (events == 0)
        return;
    ev_io_modify(&conn->io, events);
    ev_io_start(conn->set->loop, &conn->io);
}

void conn_limit(struct conn *conn, uint64_t at_ms)
{
    if (at_ms > 0)
        deadline_set(&conn->set->deadlines, &conn->deadline, at_ms);
    else
        deadline_drop(&conn->set->deadlines, &conn->deadline);
}

/* A whole head has to come within one limit, set when its first byte is
 * there; bytes that trickle in do not move it. */
static void limit_reading(struct conn *conn)
{
    const struct conn_limits *limits = &conn->set->limits;
    uint64_t now_ms = conn->set->now->mono_ms;

    if (!conn->input && conn->requests > 0) {
        conn->head_timed = false;
        conn->since_ms = now_ms;
        conn_limit(conn, now_ms + limits->keepalive_ms);
    } else if (!conn->head_timed) {
        conn->head_timed = true;
        conn->since_ms = now_ms;
        conn_limit(conn, now_ms + limits->header_ms);
    }
}

void conn_limit_body(struct conn *conn)
{
    const struct conn_limits *limits = &conn->set->limits;
    uint64_t more_ms = limits->send_rate_min > 0
                           ? conn->body_bytes * MS_PER_S / limits->send_rate_min
                           : 0;

    if (limits->send_rate_min == 0) /* any progress will do */
        conn_limit(conn, conn->set->now->mono_ms + limits->body_ms);
    else
        conn_limit(conn, conn->body_since_ms + limits->body_ms + more_ms);
}

/* Its client has sent all it will, which is no reason to end it. */
static bool first_is_tunnel(const struct conn *conn)
{
    return OWNER_OF(conn->exchanges.next, struct exchange, link)->is_tunnel;
}

void conn_enter(struct conn *conn, enum conn_state state)
{
    struct conn_set *set = conn->set;
    enum conn_state from = conn->state;

    assert(may_follow[from] & MAY(state));
    conn->state = (uint8_t)state;
    conn_set_note_reading(set,
                          (state == CONN_READING) - (from == CONN_READING));
    switch (state) {
    case CONN_READING:
        conn_watch(conn, EV_READ);
        limit_reading(conn);
        break;
    case CONN_BODY:
        conn_watch(conn, EV_READ);
        if (from != CONN_BODY) {
            conn->body_since_ms = set->now->mono_ms;
            conn_limit(conn, set->now->mono_ms + set->limits.body_ms);
        }
        break;
    case CONN_QUEUED:
        /* The watcher stays: usually the turn sends before the next wait.
         * on_event() looks when many waits come first. A new connection has
         * none yet. */
        if (from != CONN_QUEUED)
            conn->ignored_events = 0;
        if (from == CONN_READING && !conn->is_uploading &&
            !ev_is_active(&conn->io))
            conn_watch(conn, EV_READ);
        break;
    case CONN_BLOCKED:
        conn_watch(conn, EV_WRITE);
        conn->since_ms = set->now->mono_ms;
        conn_limit(conn, conn_blocked_until(conn));
        if (conn->is_uploading)
            conn_watch_upload(conn);
        break;
    case CONN_WAITING:
        list_put_last(&conn->set->waiting, &conn->wait_node);
        if (conn->is_uploading) {
            conn_watch_upload(conn);
            break;
        }
        if (first_is_tunnel(conn)) {
            conn_watch(conn, 0);
            conn_limit_look(conn);
            break;
        }
        /* For how long is up to whoever makes the answer. */
        conn_watch(conn, EV_READ);
        conn_limit(conn, 0);
        break;
    case CONN_LINGERING:
        conn_watch(conn, EV_READ);
        conn_limit(conn, set->now->mono_ms + LINGER_IDLE_MS);
        break;
    case CONN_CLOSED:
        break;
    }
}

static void on_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct conn *conn = io->data;

    (void)loop;
    if (conn->is_uploading && (events & EV_READ)) {
        conn_read_upload(conn);
        if (!(events & EV_WRITE))
            return;
    }
    switch ((enum conn_state)conn->state) {
    case CONN_READING:
    case CONN_BODY:
        conn_read(conn);
        break;
    case CONN_BLOCKED:
        conn->blocked_ms += conn->set->now->mono_ms - conn->since_ms;
        conn_queue(conn);
        break;
    case CONN_WAITING:
        conn_look_for_end(conn);
        break;
    case CONN_LINGERING:
        conn_linger(conn);
        break;
    case CONN_QUEUED:
        /* It will be sent to soon, and usually ask for the same event again:
         * worth two system calls only if that takes long. */
        if (++conn->ignored_events == IGNORED_EVENTS_MAX)
            conn_look_for_reset(conn);
        break;
    case CONN_CLOSED:
        break;
    }
}

void conn_start(struct conn *conn)
{
    ev_io_init(&conn->io, on_event, conn->io.fd, EV_READ);
    conn->io.data = conn;
    conn_read(conn);
}

bool conn_is_idle(const struct conn *conn)
{
    return conn->state == CONN_READING && !conn->input;
}

void conn_expire(struct conn *conn)
{
    switch ((enum conn_state)conn->state) {
    case CONN_READING:
        if (conn->input && conn->input->begin < conn->input->end)
            conn_refuse(conn, 408);
        else
            conn_close(conn, CONN_END_IDLE);
        break;
    case CONN_BODY:
        conn_refuse(conn, 408);
        break;
    case CONN_BLOCKED:
    case CONN_LINGERING:
        conn_close(conn, CONN_END_TIMEOUT);
        break;
    case CONN_WAITING:
        if (first_is_tunnel(conn))
            conn_look_at_tunnel(conn);
        else if (conn->is_uploading && !conn->current->sink->is_full)
            conn_expire_upload(conn);
        else
            conn_look_for_end(conn);
        break;
    case CONN_QUEUED: /* it is the server that makes it wait */
        if (!ev_is_active(&conn->io))
            conn_look_for_reset(conn);
        break;
    case CONN_CLOSED:
        break;
    }
}

const char *conn_end_name(enum conn_end end)
{
    static const char *const names[CONN_END_COUNT] = {
        "none", "client", "idle", "timeout", "error", "limit", "drain"};

    return names[end];
}

/* Ends the exchanges that are under way. */
static void break_off(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_LOG);

    while (!list_is_empty(&conn->exchanges))
        conn_finish_exchange(conn, OWNER_OF(conn->exchanges.next,
                                            struct exchange, link));
    if (conn->current) {
        conn_note_exchange(conn, conn->current);
        conn_give_exchange(conn, conn->current);
    }
    conn->current = NULL;
    profile_leave(before);
}

void conn_close(struct conn *conn, enum conn_end end)
{
    struct conn_set *set = conn->set;
    enum stats_phase before;

    if (conn->state == CONN_CLOSED)
        return;
    before = profile_enter(STATS_PHASE_OTHER);
    if (conn->end == CONN_END_NONE || !list_is_empty(&conn->exchanges))
        conn->end = (uint8_t)end;
    conn_enter(conn, CONN_CLOSED);
    ev_io_stop(set->loop, &conn->io);
    deadline_drop(&set->deadlines, &conn->deadline);
    conn_give_up(conn);
    list_drop(&conn->wait_node);
    link_drop(&set->link, &conn->flow);
    drain_drop(&set->drain, conn->io.fd);
    if (!list_is_empty(&conn->exchanges)) {
        /* Broken off: a reset tells the client, where a plain end could pass
         * for a complete answer. */
        struct linger reset = {.l_onoff = 1, .l_linger = 0};

        setsockopt(conn->io.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    }
    close(conn->io.fd);
    if (conn->is_uploading)
        conn_end_upload(conn);
    break_off(conn);
    if (conn->ticket != 0)
        address_count_give(set->addresses, &conn->ticket);
    conn_note_close(conn);
    conn_log_event(conn, LOG_EVENT_CLOSE);
    profile_leave(before);
    input_give(set, &conn->input);
    conn_set_retire(set, conn);
}
