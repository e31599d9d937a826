/*
 * conn - the life of one client connection. Only conn decides what happens
 * next.
 *
 *   HANDSHAKE, if it comes over TLS
 *      |
 *      v        something to send             its turn, or it goes first
 *   READING -------------------------> QUEUED ------------+
 *      ^                                 ^ ^              v
 *      |                     socket takes| |woken       (send)
 *      |                          more   | |              |
 *      |                          BLOCKED  WAITING <------+  no more for now
 *      |                             ^                    |
 *      |                             +--- socket is full -+
 *      +------------------- all sent, keep-alive ---------+
 *                                                         |
 *              all sent, to be closed --> LINGERING --> CLOSED
 *
 * A small answer that comes before everything queued is sent at once, without
 * being QUEUED. While the rest of an answer has still to be made, the
 * connection is WAITING until its session says that there is more to send.
 *
 * Handshakes cost more than most answers. A turn does only a few steps of
 * handshakes, at its end, so that a storm of handshakes does not stall what is
 * being sent. Reading from connections with costly sessions is limited in the
 * same way (conn_costly.h).
 *
 * The session (protocol.h), at the end of struct conn, knows what is read and
 * sent; conn decides when, how much, and for how long to wait.
 *
 * Only conn_enter() (conn_state.c) writes the state; conn_enter() sets the
 * watcher and the deadline to match. A closed connection stays in memory until
 * the end of the turn.
 *
 * Invariant: a connection is QUEUED exactly while the scheduler has it, WAITING
 *            exactly while conn_shared's list waiting has it.
 * Thread:    the worker's.
 * Owns:      its session, which owns the transport.
 */
#ifndef ENGINE_CONN_H
#define ENGINE_CONN_H

#include <ev.h>
#include <stdatomic.h>

#include "engine/conn_costly.h"
#include "engine/link/link.h"
#include "engine/protocol.h"
#include "engine/sched.h"
#include "engine/unsent_time.h"
#include "engine/what_if.h"
#include "handler/address_count.h"
#include "io/deadline.h"

enum conn_state {
    CONN_HANDSHAKE, /* the TLS handshake is under way */
    CONN_READING,   /* waits for a request, or for the rest of it */
    CONN_QUEUED,    /* waits for its turn to send */
    CONN_BLOCKED,   /* waits for the socket to take more */
    CONN_WAITING,   /* waits for more of its answer to be made */
    CONN_LINGERING, /* all is sent; the connection reads on until the client
                       closes */
    CONN_CLOSED     /* freed at the end of the turn */
};

struct conn;

/* What the connections of one worker share. */
struct conn_shared {
    struct ev_loop *loop;
    struct session_context context;
    struct address_count *addresses; /* shared by all workers; NULL: no
                                        counts */
    struct sched sched;
    struct link link;
    struct what_if what_if;
    struct unsent_time unsent_time;
    struct deadline_wheel deadlines;
    struct list waiting; /* connections that are WAITING, by item.place.link */
    /* Connections whose TLS has read more than the session has taken, linked by
     * their tls_work. */
    struct list unread;
    /* Connections whose handshake may go on, linked by their tls_work. */
    struct list shaking;
    struct conn_costly costly; /* connections that are costly to read from */
    struct conn_costly held;   /* connections that read on in the next turn */
    unsigned held_before; /* how many were put into `held` before this turn */
    struct tls_buffers *tls_buffers; /* NULL until needed */
    struct tls_context *tls;         /* for new connections; NULL: no TLS */
    const struct protocol *http2;    /* the protocol that ALPN calls h2 */
    bool has_work; /* the next turn does not wait for events */
    bool is_held;  /* the link lets nothing go before its next tick */
    _Atomic size_t reading_count; /* connections that wait for a request */
    void (*on_closed)(struct conn_shared *shared, struct conn *conn);
    char discard[16384]; /* for bytes that are thrown away */
};

/* Members are ordered by their use: a small request touches only the first
 * cache lines. */
struct conn {
    _Alignas(64) ev_io io;
    uint8_t state; /* enum conn_state */
    /* Events of the socket that came while the connection was QUEUED. */
    uint8_t ignored_events;
    /* The connection waits for a request, and is counted in reading_count. */
    bool waits;
    bool is_put_off;        /* it is in the ring `costly` or `held` */
    uint32_t linger_bytes;  /* how many more bytes may be thrown away */
    struct sched_item item; /* place.link is in shared->waiting while WAITING */
    struct deadline deadline;
    /* When the state BLOCKED began, or when lingering or the handshake must
     * end. */
    uint64_t mark_ms;
    struct list list_node; /* in conn_set's list `open`, `closed` or `free` */
    struct link_flow flow;
    struct what_if_mark mark;
    struct session session; /* last, since the protocol's own part follows */
};

static inline struct conn_shared *conn_shared_of(const struct conn *conn)
{
    return OWNER_OF(conn->session.context, struct conn_shared, context);
}

/* Returns the connection of a node in shared->unread or shared->shaking. */
static inline struct conn *conn_of_work(struct list *node)
{
    return OWNER_OF(node, struct tls_work, list)->owner;
}

/* Starts a new connection, whose first request has probably come. The caller
 * has set `state` and `session`; everything else is zero. */
void conn_start(struct conn *conn, int fd, bool is_tls);

/* Takes the next step of the handshake of a connection in shared->shaking. */
void conn_shake(struct conn *conn);

/* Reads once more from a connection that was in shared->costly. */
void conn_read_on(struct conn *conn);

/* Makes the connections in shared->unread read in the next turn, although no
 * event of their sockets will come. */
void conn_feed_unread(struct conn_shared *shared);

/* Sends up to a quantum of a connection that was taken out of the scheduler.
 * Returns how many bytes were sent. */
uint64_t conn_run(struct conn *conn);

/* Queues a connection that is WAITING, since more of its answer may be
 * ready. */
void conn_wake(struct conn *conn);

/* Handles a connection's deadline, which has passed. */
void conn_expire(struct conn *conn);

/* Closes the connection now, whatever it is doing. The log and the statistics
 * get the reason `end`, unless all answers were sent whole and the session has
 * decided on a reason itself. */
void conn_close(struct conn *conn, enum conn_end end);

/* Whether no request is under way: the connection waits between two requests,
 * or for its first. */
bool conn_is_idle(const struct conn *conn);

/* The functions by which sessions call their connections. The session_context
 * of each worker points to them. */
extern const struct session_hooks conn_session_hooks;

#endif
