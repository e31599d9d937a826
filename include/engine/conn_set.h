/*
 * conn_set - the connections of one worker.
 *
 * Memory of connections grows in slabs up to the limit; those used last are
 * used again first, so that a busy worker touches the same few.
 *
 * Thread: the worker's, but for conn_set_closed() and conn_set_reading().
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
    const struct protocol *protocol; /* of new connections */
    const struct cidrs *proxies;     /* the trusted ones */
    bool proxies_introduce;          /* these begin with the PROXY protocol */
    /* private */
    struct list open;
    struct list closed;
    struct list free;
    struct list slabs;
    size_t count;      /* open connections */
    size_t conn_bytes; /* size of a connection with its session */
    /* The next connection's number; the first one's is the worker's. */
    uint64_t next_number;
    uint64_t number_step; /* from one connection to the next */
    size_t allocated;     /* connections in all slabs */
    struct conn_idle idle;
    _Atomic uint64_t closed_count;
};

/* Fills in the private part and shared. Of shared the worker has set loop and
 * addresses, and of its context now, limits, defaults, handler, access_log and
 * stats. 0 or -ENOMEM. */
MUST_USE int conn_set_init(struct conn_set *set, enum sched_policy policy,
                           struct sched_bounds bounds,
                           struct link_shared *link_shared, size_t worker);
void conn_set_fini(struct conn_set *set);

/* Takes over mail's descriptor; closes it when there is no memory. A full set
 * closes the connection that has waited longest for a request. If none waits,
 * one of an address that has more than its share goes, unless the new one's
 * has, too; otherwise the new one is told that the server is busy. */
void conn_set_open(struct conn_set *set, const struct mail *mail);

/* Lets waiting responses send until the turn's budget is used up, then frees
 * what was closed. */
void conn_set_turn(struct conn_set *set);

/* Asks the answers that wait once more whether they can go on. */
void conn_set_wake(struct conn_set *set);

/* From now on no connection outlives its next answer, and answers that wait
 * may end. */
void conn_set_leave(struct conn_set *set);

/* Does the same as conn_set_leave(), and closes idle connections. */
void conn_set_drain(struct conn_set *set);
void conn_set_close_all(struct conn_set *set);

/* How many have been closed since the start. Any thread. */
uint64_t conn_set_closed(const struct conn_set *set);

/* How many wait for a request now, and could make room. Any thread. */
size_t conn_set_reading(const struct conn_set *set);

#endif
