#include "engine/conn.h"

#include "engine/conn_log.h"
#include "engine/conn_priv.h"
#include "observe/profile.h"

enum {
    LINGER_MS = 10000,               /* the longest time for lingering */
    LINGER_BYTES_MAX = 64 * 1048576, /* most bytes thrown away by lingering */
    IGNORED_EVENTS_MAX = 16
};

/* --- The end ------------------------------------------------------------- */

/* Throws away what a client still sends after the last answer. */
static void linger(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    struct conn_shared *shared = conn_shared_of(conn);
    struct transport *transport = &conn->session.transport;
    size_t len;
    enum io_result result;

    if (conn_is_secure(conn) && tls_has_kept(transport->tls) &&
        transport_shut_down(transport) == IO_DONE)
        conn_watch(conn, EV_READ);
    result = transport_discard(transport, shared->discard,
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

/* Ends a connection on which nothing more will be sent. When the client may
 * still be sending, closing at once would make the kernel answer with a reset,
 * which can destroy what the client has not read yet (RFC 9112 9.6). */
static void close_in_stages(struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_OTHER);
    enum io_result result = transport_shut_down(&conn->session.transport);

    profile_leave(before);
    if (result == IO_FAILED) { /* the client is gone already */
        conn_close(conn, CONN_END_CLIENT);
        return;
    }
    conn->mark_ms = conn_now_ms(conn) + LINGER_MS;
    conn->linger_bytes = LINGER_BYTES_MAX;
    conn_enter(conn, CONN_LINGERING);
    linger(conn);
}

/* --- Going on ------------------------------------------------------------ */

/* Takes the steps that the session asks for, until it has to wait. */
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
            if (__builtin_expect(session->holds_input, 0)) /* no event will
                                                              come */
                session->context->hooks->on_change(session, false);
            return;
        case SESSION_SENDS:
            if (conn_submit(conn) == CONN_SENT)
                break;
            return;
        case SESSION_IS_OVER:
            if (!link_watches(&conn_shared_of(conn)->link, &conn->flow)) {
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

/* --- Is the client still there? ------------------------------------------ */

static enum transport_peer look(const struct conn *conn)
{
    enum stats_phase before = profile_enter(STATS_PHASE_READ);
    enum transport_peer peer = transport_look(&conn->session.transport);

    profile_leave(before);
    return peer;
}

/* Makes conn_expire() look at the socket after a while. The watcher is stopped,
 * since it would fire again and again for bytes that stay unread. */
static void look_later(struct conn *conn)
{
    conn_watch(conn, 0);
    conn_limit(conn, conn_now_ms(conn) + SESSION_LOOK_MS);
}

/* Looks whether the client has closed the connection while its answer is being
 * made. Bytes that the client sends meanwhile stay unread. A client that has
 * ended its side may still wait for its answer, as `nc -N` does. It gets an
 * answer that comes in a moment. Any other is given up, since it may take long
 * or cost others something, and the client may as well be gone. */
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
        if (conn->session.is_sure)
            look_later(conn);
        else
            conn_close(conn, CONN_END_CLIENT);
        break;
    case TRANSPORT_PEER_CLOSED:
        conn_close(conn, CONN_END_CLIENT);
        break;
    case TRANSPORT_PEER_BROKEN:
        conn_close(conn, CONN_END_ERROR);
        break;
    }
}

/* Looks for a reset when the socket has had many events while the response
 * waited for its turn. Otherwise a client that is gone would stay in the queue
 * for as long as shorter responses keep coming. Only a reset counts, because a
 * client that has shut down its sending half may still wait for the answer. */
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

/* --- Handshakes ---------------------------------------------------------- */

static void on_readable(struct conn *conn);

static void begin_anew(struct conn *conn, const struct protocol *protocol)
{
    conn->session.protocol = protocol;
    protocol->open(&conn->session);
}

void conn_shake(struct conn *conn)
{
    enum conn_end end = CONN_END_ERROR;

    list_drop(conn_work(conn));
    switch (conn_step_handshake(conn, &end)) {
    case CONN_SHAKEN: /* the first request has often come, too */
        if (tls_speaks_http2(conn->session.transport.tls))
            begin_anew(conn, conn_shared_of(conn)->http2);
        conn_enter(conn, CONN_READING);
        on_readable(conn);
        break;
    case CONN_SHAKES:
        break;
    case CONN_SHOUTS:
        session_decide_end(&conn->session, CONN_END_ERROR);
        close_in_stages(conn);
        break;
    case CONN_SHAKES_NOT:
        conn_close(conn, end);
        break;
    }
}

void conn_feed_unread(struct conn_shared *shared)
{
    while (!list_is_empty(&shared->unread)) {
        struct conn *conn = conn_of_work(shared->unread.next);

        list_drop(shared->unread.next);
        if (conn_reads(conn) && ev_is_active(&conn->io))
            ev_feed_event(shared->loop, &conn->io, EV_READ);
    }
}

/* --- Events -------------------------------------------------------------- */

/* Puts a connection off to the end of a turn, by adding it to the ring of
 * costly or of held connections. When the ring is full, a costly connection is
 * closed. For any other, the function returns false, and the caller goes on
 * reading. */
static bool put_off(struct conn *conn)
{
    int events = ev_is_active(&conn->io) ? conn->io.events & EV_WRITE : 0;

    if (conn_costly_put(conn_ring(conn), conn)) {
        conn_shared_of(conn)->has_work = true;
        /* A costly connection may wait for many turns, and is not read
         * meanwhile. */
        if (conn->session.is_costly)
            conn_watch(conn, events);
        return true;
    }
    if (conn->session.is_costly)
        conn_close(conn, CONN_END_LIMIT);
    return conn->session.is_costly;
}

static void read_once(struct conn *conn)
{
    struct session *session = &conn->session;
    bool holds_input = session->holds_input;
    enum session_step step = session->protocol->receive(session);

    /* A client whose requests do not overlap asks again only when it has
     * received its whole answer. */
    if (step == SESSION_GOES_ON && !session->overlaps && !holds_input) {
        link_drop(&conn_shared_of(conn)->link, &conn->flow);
        unsent_time_drop(&conn_shared_of(conn)->unsent_time,
                         session->transport.fd);
    }
    proceed(conn, step);
}

static void on_readable(struct conn *conn)
{
    do {
        read_once(conn);
    } while (__builtin_expect(conn->session.holds_input, 0) &&
             conn_reads(conn) && !put_off(conn));
}

void conn_read_on(struct conn *conn)
{
    if (conn_reads(conn))
        on_readable(conn);
}

/* Reads from a connection now. If its session is costly, or it is put off
 * already, a turn reads from it at the turn's end instead. */
static void take_input(struct conn *conn)
{
    if (__builtin_expect(conn->session.is_costly || conn->is_put_off, 0))
        (void)put_off(conn);
    else
        on_readable(conn);
}

static void on_event(struct ev_loop *loop, ev_io *io, int events)
{
    struct conn *conn = io->data;

    (void)loop;
    if (__builtin_expect(events & EV_ERROR, 0)) { /* libev has stopped the
                                                     watcher */
        conn_close(conn, CONN_END_ERROR);
        return;
    }
    if (conn->state == CONN_READING) { /* nearly always so */
        take_input(conn);
        return;
    }
    if (conn->session.beside == SESSION_TAKES &&
        conn->state != CONN_LINGERING && (events & EV_READ)) {
        take_input(conn);
        if (!(events & EV_WRITE))
            return;
    }
    switch ((enum conn_state)conn->state) {
    case CONN_HANDSHAKE:
        conn_put_handshake(conn);
        break;
    case CONN_BLOCKED:
        conn->session.blocked_ms += (uint32_t)(conn_now_ms(conn) -
                                               conn->mark_ms);
        conn_queue(conn);
        break;
    case CONN_WAITING:
        if (events & EV_WRITE) { /* there is room to send what TLS has kept */
            (void)!tls_flush(conn->session.transport.tls);
            conn_wake(conn);
        } else {
            look_for_end(conn);
        }
        break;
    case CONN_LINGERING:
        linger(conn);
        break;
    case CONN_QUEUED:
        /* The connection usually sends soon, and then needs the same watcher.
         * Stopping and starting the watcher costs two system calls, which is
         * worth while only when the connection waits long for its turn. */
        if (++conn->ignored_events == IGNORED_EVENTS_MAX)
            look_for_reset(conn);
        break;
    case CONN_READING:
    case CONN_CLOSED:
        break;
    }
}

void conn_expire(struct conn *conn)
{
    struct session *session = &conn->session;

    switch ((enum conn_state)conn->state) {
    case CONN_READING:
        /* If the next request has just come, closing would answer it by a
         * reset. */
        if (conn_is_idle(conn) && transport_has_bytes(&session->transport))
            take_input(conn);
        else
            proceed(conn, session->protocol->expire(session));
        break;
    case CONN_HANDSHAKE:
        if (conn_waits_for_handshake(conn))
            break;
        conn_close(conn, CONN_END_TIMEOUT);
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
    case CONN_QUEUED: /* the response waits for its turn */
        if (!ev_is_active(&conn->io))
            look_for_reset(conn);
        break;
    case CONN_CLOSED:
        break;
    }
}

void conn_start(struct conn *conn, int fd, bool is_tls)
{
    struct session *session = &conn->session;

    list_init(&conn->item.place.link);
    deadline_init(&conn->deadline);
    transport_open(&session->transport, fd);
    ev_io_init(&conn->io, on_event, fd, EV_READ);
    conn->io.data = conn;
    session->protocol->open(session);
    link_open(&conn_shared_of(conn)->link, &conn->flow, fd, &session->peer);
    conn_log_open(session);
    session->since_ms = conn_now_ms(conn);
    conn_count_waiting(conn);
    if (!is_tls)
        on_readable(conn);
    else if (!conn_begin_handshake(conn))
        conn_close(conn, CONN_END_ERROR);
}

bool conn_is_idle(const struct conn *conn)
{
    if (conn->state == CONN_HANDSHAKE)
        return !tls_has_heard(conn->session.transport.tls);
    return conn->state == CONN_READING &&
           conn->session.protocol->is_idle(&conn->session);
}
