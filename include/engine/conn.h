/*
 * conn - the life of one client connection; the only conductor.
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
 * A small answer that goes before all that wait is sent at once, without being
 * QUEUED. While an answer has more to come but nothing now, the connection is
 * WAITING until its session says that there is more.
 *
 * Handshakes cost more than most answers. A turn takes only a few of them on,
 * at its end, so that a storm of them does not stall what is being sent. The
 * same holds for reading from connections whose sessions are costly.
 *
 * The session (protocol.h), at the end of struct conn, knows what is read and
 * sent; conn decides when, how much, and for how long to wait.
 *
 * Only conn_enter() (conn.c) writes the state; it sets watcher and deadline to
 * match. A closed connection stays in memory until the end of the turn.
 *
 * Invariant: a connection is QUEUED exactly while the scheduler has it, WAITING
 *            exactly while conn_shared's list waiting has it.
 * Thread:    the worker's.
 * Owns:      its session, and with that the transport.
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
    CONN_HANDSHAKE, /* TLS is being agreed upon */
    CONN_READING,   /* waits for a request, or the rest of one */
    CONN_QUEUED,    /* waits for its turn to send */
    CONN_BLOCKED,   /* waits for the socket to take more */
    CONN_WAITING,   /* waits for more of its answer to be made */
    CONN_LINGERING, /* has sent all; reads until the client has seen it */
    CONN_CLOSED     /* freed at the end of the turn */
};

struct conn;

/* What the connections of one worker share. */
struct conn_shared {
    struct ev_loop *loop;
    struct session_context context;
    struct address_count *addresses; /* of all workers; NULL: not counted */
    struct sched sched;
    struct link link;
    struct what_if what_if;
    struct unsent_time unsent_time;
    struct deadline_wheel deadlines;
    struct list waiting; /* connections that are WAITING, by item.place.link */
    struct list unread;  /* connections whose TLS has read more than was asked
                            for, by their tls_work */
    struct list shaking; /* those whose handshake may go on, likewise */
    struct conn_costly costly; /* connections that are costly to read from */
    struct conn_costly held;   /* connections that read on in the next turn */
    unsigned held_before;      /* how many of held came before this turn */
    struct tls_buffers *tls_buffers; /* NULL: not needed so far */
    struct tls_context *tls;         /* of new connections; NULL: no TLS */
    const struct protocol *http2;    /* what clients choose as h2 by ALPN */
    bool has_work;                   /* the next turn begins without a wait */
    bool is_held; /* what waits may not send before the link's next tick */
    _Atomic size_t reading_count; /* connections that wait for a request */
    void (*on_closed)(struct conn_shared *shared, struct conn *conn);
    char discard[16384]; /* where lingering reads go */
};

/* Members stand by their use: a small request touches the first lines only. */
struct conn {
    _Alignas(64) ev_io io;
    uint8_t state;          /* enum conn_state */
    uint8_t ignored_events; /* of the socket, since QUEUED */
    bool waits;             /* for a request; counted in reading_count */
    bool is_put_off;        /* it is in shared->costly or in ->held */
    uint32_t linger_bytes;  /* that may still be read and thrown away */
    struct sched_item item; /* place.link is in shared->waiting while WAITING */
    struct deadline deadline;
    uint64_t mark_ms; /* since when BLOCKED; until when to linger or to shake
                         hands */
    struct list list_node; /* in conn_set's open, closed or free */
    struct link_flow flow;
    struct what_if_mark mark;
    struct session session; /* last: the protocol's own part follows */
};

static inline struct conn_shared *conn_shared_of(const struct conn *conn)
{
    return OWNER_OF(conn->session.context, struct conn_shared, context);
}

/* The connection of a node in a list of those that come over TLS. */
static inline struct conn *conn_of_work(struct list *node)
{
    return OWNER_OF(node, struct tls_work, list)->owner;
}

/* Takes a new connection over, whose first request is probably there: state,
 * session and ticket are set, the rest is zero. */
void conn_start(struct conn *conn, int fd, bool is_tls);

/* Takes the next step of a handshake, whose connection was in
 * shared->shaking. */
void conn_shake(struct conn *conn);

/* Reads once more from a connection that was in shared->costly. */
void conn_read_on(struct conn *conn);

/* Lets the connections in shared->unread read in the next turn. */
void conn_feed_unread(struct conn_shared *shared);

/* The connection's turn to send has come: it was taken out of the scheduler.
 * Returns how many bytes went. */
uint64_t conn_run(struct conn *conn);

/* The connection is WAITING, and there may be more of its answer. */
void conn_wake(struct conn *conn);

/* The connection's deadline is over. */
void conn_expire(struct conn *conn);

/* Closes the connection now, whatever it is doing. end is the reason, unless
 * all was sent and the session had decided on another. */
void conn_close(struct conn *conn, enum conn_end end);

/* Whether nothing is under way: a kept-alive connection between requests. */
bool conn_is_idle(const struct conn *conn);

/* Sessions tell their connections by these; for the context of a worker. */
extern const struct session_hooks conn_session_hooks;

#endif
