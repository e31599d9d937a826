/*
 * conn_set - the connections of one worker.
 *
 * The memory for connections grows in slabs up to the limit. Connections that
 * were freed last are used again first, so that a worker touches little memory.
 *
 * Thread: the worker's; any thread may call conn_set_closed() and
 *         conn_set_reading().
 * Owns:   the connections, and what they share.
 */
#ifndef ENGINE_CONN_SET_H
#define ENGINE_CONN_SET_H

#include <stdatomic.h>

#include "engine/conn.h"
#include "engine/conn_idle.h"
#include "io/mailbox.h"

struct conn_set {
    struct conn_shared shared;
    const struct protocol *protocol; /* the protocol of a new connection */
    const struct cidrs *proxies;     /* the trusted proxies */
    bool proxies_introduce; /* trusted proxies begin their connections with the
                               PROXY protocol */
    /* private */
    struct list open;
    struct list closed;
    struct list free;
    struct list slabs;
    size_t count;      /* open connections */
    size_t conn_bytes; /* size of a connection with its session */
    /* The number of the next connection. A worker's numbers begin at its own
     * number + 1 and rise by number_step, so no two workers use the same. */
    uint64_t next_number;
    uint64_t number_step; /* the number of workers */
    size_t allocated;     /* connections in all slabs */
    struct conn_idle idle;
    _Atomic uint64_t closed_count;
};

/* Fills in the private part and the rest of `shared`. The worker has already
 * set shared.loop and shared.addresses, and in shared.context: now, limits,
 * defaults, handler, access_log and stats. Returns 0 or -ENOMEM. */
MUST_USE int conn_set_init(struct conn_set *set, enum sched_policy policy,
                           struct sched_bounds bounds,
                           struct link_shared *link_shared, size_t worker);
void conn_set_fini(struct conn_set *set);

/* Takes over mail->fd, and closes it when there is no memory. If
 * mail->makes_room, another connection is closed first: the one that has waited
 * longest for a request. If none waits, a connection from an address with more
 * than its share is closed, unless the new one is from such an address, too. If
 * none can be closed, the new client is told that the server is busy. */
void conn_set_open(struct conn_set *set, const struct mail *mail);

/* Lets waiting responses send until the turn's budget is used up, and then
 * frees closed connections. */
void conn_set_turn(struct conn_set *set);

/* Queues all connections that are WAITING, so that each looks again whether
 * more of its answer can be sent. */
void conn_set_wake(struct conn_set *set);

/* Makes each connection end after its next answer. An answer that is open until
 * something happens, such as a stream of events, is asked to end now. */
void conn_set_leave(struct conn_set *set);

/* Does the same as conn_set_leave(), and closes idle connections. */
void conn_set_drain(struct conn_set *set);
void conn_set_close_all(struct conn_set *set);

/* Returns how many connections have been closed since the start. Any thread may
 * call this. */
uint64_t conn_set_closed(const struct conn_set *set);

/* Returns how many connections wait for a request now, and so could make room
 * for others. Any thread may call this. */
size_t conn_set_reading(const struct conn_set *set);

#endif
