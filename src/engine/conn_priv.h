/*
 * conn_priv - what the files of a connection share. Each calls only those below
 * it:
 *
 *   conn.c        events, and what a session says is to be done
 *   conn_send.c   the way through scheduler and link to the session's send
 *   conn_state.c  states, and what is watched and waited for in each
 */
#ifndef ENGINE_CONN_PRIV_H
#define ENGINE_CONN_PRIV_H

#include "engine/conn.h"

static inline uint64_t conn_now_ms(const struct conn *conn)
{
    return conn->shared->context.now->mono_ms;
}

static inline struct candidate conn_candidate(const struct conn *conn)
{
    return conn->session.protocol->candidate(&conn->session);
}

/* --- conn_state.c ---------------------------------------------------------- */

/* The one door: sets the state, watcher and deadline. */
void conn_enter(struct conn *conn, enum conn_state state);

/* Counts the connection among those that wait for a request, and could make
 * room for others, or not any more. */
void conn_count_waiting(struct conn *conn);

/* Sets watcher and deadline anew, to what the session does beside sending. */
void conn_watch_beside(struct conn *conn);

/* Watches for these, EV_READ and EV_WRITE; 0: for nothing. Costs no system
 * call: libev applies what has changed by the end of the turn. */
void conn_watch(struct conn *conn, int events);

/* Sets the connection's one time limit; 0: none. */
void conn_limit(struct conn *conn, uint64_t at_ms);

/* --- conn_send.c ----------------------------------------------------------- */

enum conn_progress {
    CONN_SENT,  /* all of it, the session may go on */
    CONN_WAITS, /* queued, blocked or waiting: comes back by itself */
    CONN_ENDED  /* closed */
};

/* Lets the candidate wait for its turn. */
void conn_queue(struct conn *conn);

/* A candidate is new: sends it now if nothing in the queue goes before it, or
 * queues it. */
enum conn_progress conn_submit(struct conn *conn);

/* Sends up to a quantum; what is left waits. *sent_out is raised by the bytes
 * that went. */
enum conn_progress conn_send(struct conn *conn, uint64_t *sent_out);

#endif
