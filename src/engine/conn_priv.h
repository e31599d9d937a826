/*
 * conn_priv - what the files of a connection share. Each file calls only those
 * listed below it:
 *
 *   conn.c          events, and the next step of a session
 *   conn_session.c  the hooks by which a session calls its connection
 *   conn_tls.c      the handshake, and what TLS holds back
 *   conn_send.c     sending: through scheduler and link to the session
 *   conn_state.c    states, and what is watched and waited for in each
 */
#ifndef ENGINE_CONN_PRIV_H
#define ENGINE_CONN_PRIV_H

#include "engine/conn.h"

static inline uint64_t conn_now_ms(const struct conn *conn)
{
    return conn_shared_of(conn)->context.now->mono_ms;
}

static inline bool conn_is_secure(const struct conn *conn)
{
    return transport_is_secure(&conn->session.transport);
}

/* Returns the node by which a connection over TLS is in shared->unread or
 * shared->shaking. */
static inline struct list *conn_work(const struct conn *conn)
{
    return &tls_work(conn->session.transport.tls)->list;
}

/* Returns the ring in which the connection waits when it is put off. */
static inline struct conn_costly *conn_ring(const struct conn *conn)
{
    struct conn_shared *shared = conn_shared_of(conn);

    return conn->session.is_costly ? &shared->costly : &shared->held;
}

/* Returns the session's candidate. The candidate's own place in the order, if
 * it has one, becomes the connection's. */
static inline struct candidate conn_candidate(struct conn *conn)
{
    struct candidate candidate =
        conn->session.protocol->candidate(&conn->session);

    if (candidate.place) {
        conn->item.arrival = candidate.place->arrival;
        conn->item.stamp = candidate.place->stamp;
        conn->item.is_stream = candidate.place->is_stream;
        conn->item.is_of_many = true;
        conn->item.place.client = candidate.place->place.client;
    }
    return candidate;
}

/* --- conn_state.c -------------------------------------------------------- */

/* Changes the state, and sets watcher and deadline to match. Nothing else
 * writes the state. */
void conn_enter(struct conn *conn, enum conn_state state);

/* Updates reading_count, which counts the connections that wait for a request.
 * Called when `conn` may have begun or ceased to wait. */
void conn_count_waiting(struct conn *conn);

/* Sets watcher and deadline to what session->beside says. */
void conn_watch_beside(struct conn *conn);

/* Whether bytes from the client are read in the present state. */
static inline bool conn_reads(const struct conn *conn)
{
    return conn->state == CONN_READING ||
           (conn->session.beside == SESSION_TAKES &&
            conn->state > CONN_READING && conn->state < CONN_LINGERING);
}

/* Watches for room in the socket when TLS has kept bytes to send. Lets the
 * session read in the next turn when TLS has bytes that the session has not
 * taken, because no event will come for these bytes. */
void conn_heed_tls(struct conn *conn);

/* Watches the socket for `events`: EV_READ, EV_WRITE or both; 0 stops the
 * watcher. No system call is made now: libev applies changes before it
 * waits. */
void conn_watch(struct conn *conn, int events);

/* Sets the time when conn_expire() is called. If `at_ms` is 0, there is no
 * limit. */
void conn_limit(struct conn *conn, uint64_t at_ms);

/* --- conn_tls.c ---------------------------------------------------------- */

enum conn_handshake {
    CONN_SHAKEN,    /* the handshake is done */
    CONN_SHAKES,    /* the handshake goes on later; nothing is to be done */
    CONN_SHOUTS,    /* the client spoke plain HTTP, and was answered */
    CONN_SHAKES_NOT /* the handshake failed; the caller closes the connection */
};

/* Begins the handshake. Returns false when there is no memory or no
 * certificate. */
MUST_USE bool conn_begin_handshake(struct conn *conn);

/* Queues the handshake, whose next step comes at the end of the turn. */
void conn_put_handshake(struct conn *conn);

/* Takes the next step of the handshake. Sets *end_out to the reason when the
 * connection is to be closed. */
enum conn_handshake conn_step_handshake(struct conn *conn,
                                        enum conn_end *end_out);

/* Called when a deadline of the handshake has passed. Returns false when the
 * time for the whole handshake is over. Otherwise only a pause before the next
 * look at a proxy's preamble is over: lets the handshake go on, and returns
 * true. */
bool conn_waits_for_handshake(struct conn *conn);

/* --- conn_send.c --------------------------------------------------------- */

enum conn_progress {
    CONN_SENT,  /* the candidate was sent whole */
    CONN_WAITS, /* the connection is QUEUED, BLOCKED or WAITING */
    CONN_ENDED  /* the connection is closed */
};

/* Queues the candidate until its turn comes. */
void conn_queue(struct conn *conn);

/* Queues a new candidate, in place of the one that is queued, if any. */
void conn_requeue(struct conn *conn);

/* Sends a new candidate now if nothing in the queue goes before it; otherwise
 * queues it. */
enum conn_progress conn_submit(struct conn *conn);

/* Sends up to a quantum of the candidate, and queues the rest. Adds the bytes
 * sent to *sent_out. */
enum conn_progress conn_send(struct conn *conn, uint64_t *sent_out);

#endif
