/*
 * conn_set - the connections of one worker, and what they share: loop, clock,
 * scheduler, sender, handler, limits, and the pools of memory they draw from.
 *
 * Pools keep the most recently used on top, so that a busy worker touches the
 * same few cache-warm buffers. Memory of connections grows in slabs up to the
 * limit; input buffers and exchanges beyond a reserve are freed.
 *
 * Thread: the worker's, but for conn_set_closed() and conn_set_reading().
 * Owns:   connections, pools, sender, scheduler, deadlines.
 */
#ifndef ENGINE_CONN_SET_H
#define ENGINE_CONN_SET_H

#include <stdatomic.h>

#include "engine/conn.h"
#include "engine/conn_idle.h"
#include "engine/drain.h"
#include "engine/sender.h"
#include "handler/address_count.h"
#include "handler/handler.h"
#include "io/mailbox.h"
#include "observe/access_log.h"
#include "observe/stats.h"

struct conn_limits {
    size_t connections_max; /* of this worker */
    uint32_t requests_max;  /* per connection; 0: any number */
    uint64_t keepalive_ms;
    uint64_t header_ms;     /* for a whole head */
    uint64_t body_ms;       /* for a whole body that is drained */
    uint64_t send_ms;       /* without progress while the socket is full */
    uint64_t send_rate_min; /* bytes a second, beyond send_ms; 0: any */
    uint64_t quantum;       /* bytes sent before others get their turn */
};

struct conn_set {
    struct ev_loop *loop;
    const struct now *now;
    struct conn_limits limits;
    struct response_style style;
    struct handler handler; /* answers everything; may change between turns */
    const struct cidrs *proxies;     /* that are trusted */
    bool proxies_introduce;          /* they begin with the PROXY protocol */
    struct address_count *addresses; /* of all workers; NULL: not counted */
    struct access_log_buffer *access_log;
    struct stats *stats; /* the worker's */
    struct sched sched;
    struct sender sender;
    struct link link;
    struct drain drain;
    bool is_draining;
    bool is_held; /* what waits may not send before the link's next tick */
    /* private */
    struct deadline_wheel deadlines;
    struct list open;
    struct list waiting; /* open ones, by their own node */
    struct list closed;
    struct list free;
    struct list slabs;
    size_t count;         /* open ones */
    uint64_t next_number; /* of a connection: the worker's, ... */
    uint64_t number_step; /* ... and then those of the same remainder */
    size_t allocated;     /* in all slabs */
    struct input *inputs; /* free ones */
    size_t input_count;
    struct list exchanges; /* free ones */
    size_t exchange_count;
    struct field *fields; /* for the head that is parsed */
    char discard[16384];  /* where lingering reads go */
    struct conn_idle idle;
    _Atomic uint64_t closed_count;
    _Atomic size_t reading_count; /* open ones that wait for a request */
};

/* Fills in the private part; the public one is set by the worker. 0 or
 * -ENOMEM. */
MUST_USE int conn_set_init(struct conn_set *set, enum sched_policy policy,
                           uint64_t starvation_bound,
                           struct link_shared *link_shared, size_t worker);
void conn_set_fini(struct conn_set *set);

/* Takes over a descriptor; closes it when there is no memory. Where another one
 * has to make room, that which has waited longest for a request is closed; if
 * there is none, this one is told that the server is busy. */
void conn_set_open(struct conn_set *set, const struct mail *mail);

/* Lets waiting responses send until the turn's budget is used up, then frees
 * what was closed. */
void conn_set_turn(struct conn_set *set);

/* Asks the answers that wait for something once more. */
void conn_set_wake(struct conn_set *set);

/* From now on no connection outlives its next answer, and answers that wait
 * may end. */
void conn_set_leave(struct conn_set *set);

/* The same, and idle connections are closed. */
void conn_set_drain(struct conn_set *set);
void conn_set_close_all(struct conn_set *set);

/* How many have been closed since the start. Any thread. */
uint64_t conn_set_closed(const struct conn_set *set);

/* How many wait for a request now, and could make room. Any thread. */
size_t conn_set_reading(const struct conn_set *set);

/* --- For conn.c: conn_pools.c ---------------------------------------------- */

MUST_USE bool conn_pools_init(struct conn_set *set); /* false: no memory */
void conn_pools_fini(struct conn_set *set);

struct input *input_take(struct conn_set *set); /* NULL: no memory */
void input_give(struct conn_set *set, struct input **input);
struct exchange *exchange_take(struct conn_set *set); /* NULL: no memory */
void exchange_give(struct conn_set *set, struct exchange *exchange);

/* Lets it have fields of its own, if its request has many. False: no memory. */
MUST_USE bool exchange_keep_fields(struct conn_set *set,
                                   struct exchange *exchange);

/* What it holds, without bodies. */
size_t exchange_bytes(const struct exchange *exchange);

/* --- For conn.c: conn_set.c ------------------------------------------------ */

/* So many more wait for a request, or fewer. */
static inline void conn_set_note_reading(struct conn_set *set, int more)
{
    size_t count;

    if (more == 0)
        return;
    count = atomic_load_explicit(&set->reading_count, memory_order_relaxed);
    atomic_store_explicit(&set->reading_count, count + (size_t)more,
                          memory_order_relaxed);
}

/* Moves a connection that has been closed to where the turn frees it. */
void conn_set_retire(struct conn_set *set, struct conn *conn);

#endif
