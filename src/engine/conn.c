#include "engine/conn.h"

#include "engine/conn_log.h"
#include "engine/conn_priv.h"
#include "observe/profile.h"

enum {
    LINGER_MS = 10000,               /* in all */
    LINGER_BYTES_MAX = 64 * 1048576, /* in all */
    IGNORED_EVENTS_MAX = 16
};

/* --- The end --------------------------------------------------------------- */

/* Throws away what a client still sends after the last answer. */
static void linger(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    struct conn_shared *shared = conn->shared;
    size_t len;
    enum io_result result = transport_receive(&conn->session.transport,
                                              shared->discard,
                                              sizeof(shared->discard), &len);

    profile_leave(before);
    if (result == IO_AGAIN_READ || result == IO_AGAIN_WRITE)
        return;
    if (result != IO_DONE || len >= conn->linger_bytes ||
        conn_now_ms(conn) >= conn->mark_ms) {
        conn_close(conn, CONN_END_CLIENT);
        return;
    }
    conn->linger_bytes -= (uint32_t)len;
    conn_enter(conn, CONN_LINGERING);
}

/* All has been sent and nothing more will be. When the client may still be
 * sending, closing at once would make the kernel answer with a reset, which
 * can destroy what the client has not read yet (RFC 9112 9.6). */
static void close_in_stages(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_OTHER);
    bool is_shut = transport_shut_down(&conn->session.transport);

    profile_leave(before);
    if (!is_shut) { /* the client is gone already */
        conn_close(conn, CONN_END_CLIENT);
        return;
    }
    conn->mark_ms = conn_now_ms(conn) + LINGER_MS;
    conn->linger_bytes = LINGER_BYTES_MAX;
    conn_enter(conn, CONN_LINGERING);
    linger(conn);
}

/* --- Going on -------------------------------------------------------------- */

/* Does what the session says, until that has to wait. */
static void proceed(struct conn *conn, enum session_step step)
{
    struct session *session = &conn->session;

    for (;; step = session->protocol->advance(session)) {
        switch (step) {
        case SESSION_STAYS:
            conn_watch_beside(conn);
            return;
        case SESSION_GOES_ON:
            break;
        case SESSION_READS:
            conn_enter(conn, CONN_READING);
            return;
        case SESSION_SENDS:
            if (conn_submit(conn) == CONN_SENT)
                break;
            return;
        case SESSION_IS_OVER:
            if (!link_watches(&conn->shared->link, &conn->flow)) {
                conn_close(conn, CONN_END_CLIENT);
                return;
            }
            close_in_stages(conn);
            return;
        case SESSION_ENDS:
            close_in_stages(conn);
            return;
        case SESSION_CLOSES:
            conn_close(conn, (enum conn_end)session->why);
            return;
        }
    }
}

uint64_t conn_run(struct conn *conn)
{
    uint64_t sent = 0;

    if (conn_send(conn, &sent) == CONN_SENT)
        proceed(conn, SESSION_GOES_ON);
    return sent;
}

/* --- Is the client still there? -------------------------------------------- */

static enum transport_peer look(const struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    enum transport_peer peer = transport_look(&conn->session.transport);

    profile_leave(before);
    return peer;
}

/* Bytes that wait would make the watcher fire again and again. */
static void look_later(struct conn *conn)
{
    conn_watch(conn, 0);
    conn_limit(conn, conn_now_ms(conn) + SESSION_LOOK_MS);
}

/* An answer is waited for, and what comes meanwhile has to wait, too: only the
 * client's end is looked for. */
static void look_for_end(struct conn *conn)
{
    switch (look(conn)) {
    case TRANSPORT_PEER_SILENT:
        if (!ev_is_active(&conn->io))
            look_later(conn);
        break;
    case TRANSPORT_PEER_SPEAKS:
        look_later(conn);
        break;
    case TRANSPORT_PEER_ENDED:
    case TRANSPORT_PEER_CLOSED:
        conn_close(conn, CONN_END_CLIENT);
        break;
    case TRANSPORT_PEER_BROKEN:
        conn_close(conn, CONN_END_ERROR);
        break;
    }
}

/* A response has waited for its turn through many events of its socket. A
 * client that has reset the connection would hold its place among those that
 * wait for as long as shorter ones keep coming; who only says no more may wait
 * for the answer. */
static void look_for_reset(struct conn *conn)
{
    enum transport_peer peer = look(conn);

    if (peer == TRANSPORT_PEER_BROKEN || peer == TRANSPORT_PEER_CLOSED) {
        conn_close(conn, CONN_END_ERROR);
    } else if (peer == TRANSPORT_PEER_SILENT &&
               conn->session.beside == SESSION_LEAVES) {
        conn_watch(conn, EV_READ);
        conn->ignored_events = 0;
    } else {
        look_later(conn);
    }
}

/* --- Events ---------------------------------------------------------------- */

static void on_readable(struct conn *conn)
{
    struct session *session = &conn->session;
    enum session_step step = session->protocol->receive(session);

    if (step == SESSION_GOES_ON) { /* the client has had its answer */
        link_drop(&conn->shared->link, &conn->flow);
        drain_drop(&conn->shared->drain, session->transport.fd);
    }
    proceed(conn, step);
}

static void on_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct conn *conn = io->data;

    (void)loop;
    if (conn->session.beside == SESSION_TAKES && conn->state != CONN_READING &&
        conn->state != CONN_LINGERING && (events & EV_READ)) {
        on_readable(conn);
        if (!(events & EV_WRITE))
            return;
    }
    switch ((enum conn_state)conn->state) {
    case CONN_READING:
        on_readable(conn);
        break;
    case CONN_BLOCKED:
        conn->session.blocked_ms += conn_now_ms(conn) - conn->mark_ms;
        conn_queue(conn);
        break;
    case CONN_WAITING:
        look_for_end(conn);
        break;
    case CONN_LINGERING:
        linger(conn);
        break;
    case CONN_QUEUED:
        /* It will be sent to soon, and usually ask for the same event again:
         * worth two system calls only if that takes long. */
        if (++conn->ignored_events == IGNORED_EVENTS_MAX)
            look_for_reset(conn);
        break;
    case CONN_CLOSED:
        break;
    }
}

void conn_expire(struct conn *conn)
{
    struct session *session = &conn->session;

    switch ((enum conn_state)conn->state) {
    case CONN_READING:
        proceed(conn, session->protocol->expire(session));
        break;
    case CONN_BLOCKED:
    case CONN_LINGERING:
        conn_close(conn, CONN_END_TIMEOUT);
        break;
    case CONN_WAITING:
        if (session->beside == SESSION_LEAVES)
            look_for_end(conn);
        else
            proceed(conn, session->protocol->expire(session));
        break;
    case CONN_QUEUED: /* it is the server that makes it wait */
        if (!ev_is_active(&conn->io))
            look_for_reset(conn);
        break;
    case CONN_CLOSED:
        break;
    }
}

void conn_start(struct conn *conn, int fd)
{
    struct session *session = &conn->session;

    list_init(&conn->wait_node);
    deadline_init(&conn->deadline);
    transport_open(&session->transport, fd);
    ev_io_init(&conn->io, on_event, fd, EV_READ);
    conn->io.data = conn;
    session->protocol->open(session);
    link_open(&conn->shared->link, &conn->flow, fd, &session->peer);
    conn_log_open(session);
    session->since_ms = conn_now_ms(conn);
    conn_count_waiting(conn);
    on_readable(conn);
}

bool conn_is_idle(const struct conn *conn)
{
    return conn->state == CONN_READING &&
           conn->session.protocol->is_idle(&conn->session);
}

/* --- What sessions say ----------------------------------------------------- */

static struct conn *conn_of(struct session *session)
{
    return OWNER_OF(session, struct conn, session);
}

static void on_change(struct session *session, bool has_more)
{
    struct conn *conn = conn_of(session);

    conn_watch_beside(conn);
    if (has_more && conn->state == CONN_WAITING)
        conn_wake(conn);
}

static void on_answered(struct session *session, uint64_t bytes,
                        uint64_t now_ns)
{
    drain_note_answer(&conn_of(session)->shared->drain, session->transport.fd,
                      bytes, now_ns);
}

static bool on_introduced(struct session *session, const struct address *client)
{
    struct conn *conn = conn_of(session);
    struct address_count *addresses = conn->shared->addresses;

    session->peer = *client;
    return !addresses ||
           (conn->ticket = address_count_take(addresses, client)) != 0;
}

const struct session_hooks conn_session_hooks = {
    .on_change = on_change,
    .on_answered = on_answered,
    .on_introduced = on_introduced};
