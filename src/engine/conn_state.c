#include <assert.h>

#include "engine/conn_log.h"
#include "engine/conn_priv.h"
#include "observe/profile.h"

enum { LINGER_IDLE_MS = 2000 }; /* longest lingering without input */

/* The states that may follow each state, as bits. */
#define MAY(state) (1u << (state))
static const unsigned may_follow[] = {
    [CONN_HANDSHAKE] = MAY(CONN_HANDSHAKE) | MAY(CONN_READING) |
                       MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_READING] = MAY(CONN_READING) | MAY(CONN_QUEUED) | MAY(CONN_BLOCKED) |
                     MAY(CONN_WAITING) | MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_QUEUED] = MAY(CONN_READING) | MAY(CONN_QUEUED) | MAY(CONN_BLOCKED) |
                    MAY(CONN_WAITING) | MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_BLOCKED] = MAY(CONN_QUEUED) | MAY(CONN_CLOSED),
    [CONN_WAITING] = MAY(CONN_QUEUED) | MAY(CONN_CLOSED),
    [CONN_LINGERING] = MAY(CONN_LINGERING) | MAY(CONN_CLOSED),
    [CONN_CLOSED] = 0,
};

void conn_watch(struct conn *conn, int events)
{
    struct ev_loop *loop = conn_shared_of(conn)->loop;

    if (ev_is_active(&conn->io)) {
        if ((conn->io.events & (EV_READ | EV_WRITE)) == events)
            return;
        ev_io_stop(loop, &conn->io);
    }
    if (events == 0)
        return;
    ev_io_modify(&conn->io, events);
    ev_io_start(loop, &conn->io);
}

void conn_heed_tls(struct conn *conn)
{
    const struct tls *tls = conn->session.transport.tls;
    bool sends = conn->state == CONN_QUEUED || conn->state == CONN_BLOCKED;
    int events = ev_is_active(&conn->io) ? conn->io.events & EV_READ : 0;

    if (tls_has_kept(tls) && !sends)
        conn_watch(conn, events | EV_WRITE);
    if (tls_has_unread(tls) && conn_reads(conn) &&
        list_is_empty(conn_work(conn))) {
        list_put_last(&conn_shared_of(conn)->unread, conn_work(conn));
        conn_shared_of(conn)->has_work = true;
    }
}

void conn_limit(struct conn *conn, uint64_t at_ms)
{
    if (at_ms > 0)
        deadline_set(&conn_shared_of(conn)->deadlines, &conn->deadline, at_ms);
    else
        deadline_drop(&conn_shared_of(conn)->deadlines, &conn->deadline);
}

static void limit_by_session(struct conn *conn, enum session_wait wait)
{
    conn_limit(conn, conn->session.protocol->limit(&conn->session, wait));
}

/* Returns the events to watch for on the socket while an answer is on its
 * way. */
static int events_beside(const struct conn *conn)
{
    switch ((enum session_beside)conn->session.beside) {
    case SESSION_TAKES:
        return EV_READ;
    case SESSION_LEAVES:
        return conn->state == CONN_WAITING ? EV_READ : 0;
    case SESSION_RESTS:
        break;
    }
    return 0;
}

void conn_watch_beside(struct conn *conn)
{
    int events = events_beside(conn);

    switch ((enum conn_state)conn->state) {
    case CONN_QUEUED:
        /* The watcher stays active, because usually the turn sends before the
         * loop waits again. If the loop waits many times before the turn sends,
         * on_event() looks for a reset. A new connection has no active watcher
         * yet. */
        if (conn->session.beside != SESSION_LEAVES)
            conn_watch(conn, events);
        else if (!ev_is_active(&conn->io))
            conn_watch(conn, EV_READ);
        if (conn->session.beside == SESSION_RESTS)
            conn_limit(conn, conn_now_ms(conn) + SESSION_LOOK_MS);
        break;
    case CONN_BLOCKED:
        conn_watch(conn, EV_WRITE | events);
        break;
    case CONN_WAITING:
        conn_watch(conn, events);
        limit_by_session(conn, SESSION_WAIT_ANSWER);
        break;
    case CONN_HANDSHAKE:
    case CONN_READING:
    case CONN_LINGERING:
    case CONN_CLOSED:
        break;
    }
    if (conn_is_secure(conn))
        conn_heed_tls(conn);
}

void conn_count_waiting(struct conn *conn)
{
    bool waits = conn->state <= CONN_READING && conn->session.since_ms != 0;
    _Atomic size_t *count = &conn_shared_of(conn)->reading_count;

    if (waits == conn->waits)
        return;
    conn->waits = waits;
    atomic_store_explicit(count,
                          atomic_load_explicit(count, memory_order_relaxed) +
                              (waits ? 1 : (size_t)-1),
                          memory_order_relaxed);
}

void conn_enter(struct conn *conn, enum conn_state state)
{
    enum conn_state from = conn->state;

    _Static_assert(CONN_HANDSHAKE < CONN_READING,
                   "as conn_count_waiting() has it");
    assert(may_follow[from] & MAY(state));
    conn->state = (uint8_t)state;
    switch (state) {
    case CONN_HANDSHAKE:
        conn->mark_ms = conn_now_ms(conn) +
                        conn_shared_of(conn)->context.limits.header_ms;
        conn_limit(conn, conn->mark_ms);
        break;
    case CONN_READING:
        conn_watch(conn, EV_READ);
        limit_by_session(conn, SESSION_WAIT_READ);
        if (conn_is_secure(conn))
            conn_heed_tls(conn);
        break;
    case CONN_QUEUED:
        if (from != CONN_QUEUED) {
            conn->ignored_events = 0;
            conn_watch_beside(conn);
        }
        break;
    case CONN_BLOCKED:
        conn->mark_ms = conn_now_ms(conn);
        conn_watch_beside(conn);
        limit_by_session(conn, SESSION_WAIT_SEND);
        break;
    case CONN_WAITING:
        list_put_last(&conn_shared_of(conn)->waiting, &conn->item.place.link);
        conn_watch_beside(conn);
        break;
    case CONN_LINGERING:
        conn_watch(conn, EV_READ);
        conn_limit(conn, conn_now_ms(conn) + LINGER_IDLE_MS);
        if (conn_is_secure(conn))
            conn_heed_tls(conn);
        break;
    case CONN_CLOSED:
        break;
    }
    conn_count_waiting(conn);
}

void conn_close(struct conn *conn, enum conn_end end)
{
    struct conn_shared *shared = conn_shared_of(conn);
    struct session *session = &conn->session;
    enum stats_phase before;
    bool is_broken_off;

    if (conn->state == CONN_CLOSED)
        return;
    before = profile_enter(STATS_PHASE_OTHER);
    conn_enter(conn, CONN_CLOSED);
    conn_watch(conn, 0);
    ev_clear_pending(shared->loop, &conn->io); /* an EV_ERROR may be pending */
    conn_limit(conn, 0);
    sched_drop(&shared->sched, &conn->item);
    what_if_end(&shared->what_if, &conn->mark, 0, false);
    sched_forget(&shared->sched, conn_candidate(conn).bytes);
    list_drop(&conn->item.place.link);
    if (conn_is_secure(conn))
        list_drop(conn_work(conn));
    link_drop(&shared->link, &conn->flow);
    unsent_time_drop(&shared->unsent_time, session->transport.fd);
    is_broken_off = session->protocol->end(session);
    if (is_broken_off || session->end == CONN_END_NONE)
        session->end = (uint8_t)end;
    /* If an answer was not sent whole, the connection is reset: after a plain
     * end the client might take the answer for complete. */
    transport_close(&session->transport, is_broken_off);
    if (conn->session.ticket != 0)
        address_count_give(shared->addresses, &conn->session.ticket);
    conn_log_close(session);
    profile_leave(before);
    shared->on_closed(shared, conn);
}
