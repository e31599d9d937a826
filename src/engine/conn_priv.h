/*
 * conn_priv - what the files of a connection share. Each calls only those below
 * it:
 *
 *   conn.c          events, and what is to be done by a session's next step
 *   conn_session.c  word that a session sends up at any time: its hooks
 *   conn_tls.c      the handshake, and what TLS holds back
 *   conn_send.c     the way through scheduler and link to the session's send
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

/* The node of a connection that comes over TLS in shared->unread or
 * ->shaking. */
static inline struct list *conn_work(const struct conn *conn)
{
    return &tls_work(conn->session.transport.tls)->list;
}

/* The ring in which the connection waits when it is put off. */
static inline struct conn_costly *conn_ring(const struct conn *conn)
{
    struct conn_shared *shared = conn_shared_of(conn);

    return conn->session.is_costly ? &shared->costly : &shared->held;
}

/* The session's candidate. Its place in the order becomes the connection's. */
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

/* The only way to change the state: sets watcher and deadline, too. */
void conn_enter(struct conn *conn, enum conn_state state);

/* Brings reading_count up to date: whether the connection waits for a request,
 * and so could make room for others. */
void conn_count_waiting(struct conn *conn);

/* Sets watcher and deadline to what session->beside says. */
void conn_watch_beside(struct conn *conn);

/* Whether what the client sends is read now. */
static inline bool conn_reads(const struct conn *conn)
{
    return conn->state == CONN_READING ||
           (conn->session.beside == SESSION_TAKES &&
            conn->state > CONN_READING && conn->state < CONN_LINGERING);
}

/* Sees to it that what TLS has kept goes as soon as the socket takes it, and
 * that what it has read ahead, for which no event comes, is read. */
void conn_heed_tls(struct conn *conn);

/* Watches for events, EV_READ and EV_WRITE; 0: for nothing. Costs no system
 * call: libev applies what has changed by the end of the turn. */
void conn_watch(struct conn *conn, int events);

/* Sets the connection's one time limit; 0: none. */
void conn_limit(struct conn *conn, uint64_t at_ms);

/* --- conn_tls.c ---------------------------------------------------------- */

enum conn_handshake {
    CONN_SHAKEN,    /* the handshake is done */
    CONN_SHAKES,    /* it goes on by itself later */
    CONN_SHOUTS,    /* plain HTTP was spoken, and answered */
    CONN_SHAKES_NOT /* it failed: the connection is to be closed */
};

/* Begins the handshake. False: no memory. */
MUST_USE bool conn_begin_handshake(struct conn *conn);

/* Has a step of the handshake made at the end of the turn. */
void conn_put_handshake(struct conn *conn);

/* Makes a step of it. *end_out: why the connection is to be closed. */
enum conn_handshake conn_step_handshake(struct conn *conn,
                                        enum conn_end *end_out);

/* The connection's deadline is over. True: the handshake still has time. */
bool conn_waits_for_handshake(struct conn *conn);

/* --- conn_send.c --------------------------------------------------------- */

enum conn_progress {
    CONN_SENT,  /* all was sent: the session may go on */
    CONN_WAITS, /* queued, blocked or waiting; goes on by itself */
    CONN_ENDED  /* it is closed */
};

/* Lets the candidate wait for its turn. */
void conn_queue(struct conn *conn);

/* Lets a new candidate wait, or another one than that which is queued. */
void conn_requeue(struct conn *conn);

/* Sends a new candidate now if nothing in the queue goes before it, or queues
 * it. */
enum conn_progress conn_submit(struct conn *conn);

/* Sends up to a quantum; what is left waits. The bytes sent are added to
 * *sent_out. */
enum conn_progress conn_send(struct conn *conn, uint64_t *sent_out);

#endif
