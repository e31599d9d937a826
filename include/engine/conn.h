/*
 * conn - the life of one client connection; the only conductor.
 *
 *             bytes            head complete
 *   READING ---------> (parse) -------------> answer ---> send at once, or
 *      ^   \                                               QUEUED
 *      |    \  head with a body                             |   ^
 *      |     +---------------> BODY --(drained)--> answer   v   | writable
 *      |                                                 (send) -> BLOCKED
 *      +------------- all sent, keep-alive ----------------+
 *                                                          |
 *           all sent, to be closed --> LINGERING --> CLOSED
 *
 * While an answer has more to come but nothing now, the connection is WAITING
 * until conn_wake() makes it QUEUED again.
 *
 * The body of a request may go on coming beside its answer (exchange.h): then
 * is_uploading is set in whichever of QUEUED, BLOCKED and WAITING the answer is.
 *
 * Requests that came in one read are answered ahead while the answers are
 * small; their responses stand in the connection's row and leave together.
 *
 * Only conn_enter() writes the state; it sets watcher and deadline to match.
 * A closed connection stays in memory until the end of the turn.
 *
 * Invariant: QUEUED exactly while in the scheduler, WAITING exactly while in
 *            the set's list of these. The input buffer is held only while it
 *            has bytes, or an exchange that points into it.
 * Thread:    the worker's.
 * Owns:      its socket, input buffer and exchanges.
 */
#ifndef ENGINE_CONN_H
#define ENGINE_CONN_H

#include <ev.h>

#include "base/address.h"
#include "engine/link.h"
#include "engine/sched.h"
#include "http/chunked.h"
#include "http/http1.h"
#include "io/deadline.h"

enum conn_state {
    CONN_READING,   /* waits for a request, or the rest of its head */
    CONN_BODY,      /* takes in the body of conn->current */
    CONN_QUEUED,    /* waits for its turn to send */
    CONN_BLOCKED,   /* waits for the socket to take more */
    CONN_WAITING,   /* waits for more of its answer to be made */
    CONN_LINGERING, /* has sent all; reads until the client has seen it */
    CONN_CLOSED     /* freed at the end of the turn */
};

/* Why a connection ended; in the log, and for counting. */
enum conn_end {
    CONN_END_NONE,    /* it has not, and nothing has decided that it will */
    CONN_END_CLIENT,  /* the client closed it, or asked for its end */
    CONN_END_IDLE,    /* no request came for too long */
    CONN_END_TIMEOUT, /* half of one did, or a response was not taken */
    CONN_END_ERROR,   /* a bad request, a broken connection, no memory */
    CONN_END_LIMIT,   /* it had all it may have, or made room for another */
    CONN_END_DRAIN,   /* the server stops */
    CONN_END_COUNT
};

enum {
    /* A whole head behind some empty lines, and always room for a body. */
    INPUT_BYTES = HTTP1_HEAD_BYTES_MAX + 4096
};

/* What has been read and is not done with. */
struct input {
    struct input *next; /* in the pool */
    size_t begin;       /* of what is not parsed yet */
    size_t end;         /* of what has been read */
    uint64_t first_ns;  /* when the byte at begin was read */
    uint64_t last_ns;   /* when the last was */
    char data[INPUT_BYTES];
};

struct conn_set;
struct exchange;

/* In the order of use: a small request touches the first three cache lines. */
struct conn {
    _Alignas(64) ev_io io;
    struct conn_set *set;
    struct input *input;
    /* --- 64 */
    struct list exchanges;    /* answered, in order; the first is being sent */
    struct exchange *current; /* its body is being read; is_uploading: it is
                                 the first of exchanges at the same time */
    struct http1_progress progress;
    uint32_t requests;
    uint8_t state;          /* enum conn_state */
    uint8_t ignored_events; /* since it is QUEUED */
    bool is_closing;        /* parse no more; close when all is sent */
    bool client_closes;     /* and it is the client who asked for it */
    bool head_timed;        /* the deadline is that of a head */
    bool awaits_proxy;      /* who asks is said before the first head */
    bool is_uploading;      /* the body of what is being answered comes in */
    uint8_t end;            /* enum conn_end */
    struct sched_item item;
    /* --- 128 */
    struct deadline deadline;
    uint64_t blocked_ms; /* before the last time, for the first exchange */
    uint64_t since_ms;   /* it is BLOCKED; or READING, without a byte more */
    struct list link;    /* in the set's open or closed ones; or its pool */
    /* --- 192 */
    struct link_flow flow;
    struct chunked chunked;
    uint64_t body_left;  /* of current's body, when not chunked */
    uint64_t body_bytes; /* of it, decoded so far */
    uint64_t body_since_ms;
    uint32_t body_at;      /* where in the input it comes in */
    uint32_t linger_bytes; /* that may still be thrown away */
    uint64_t linger_until_ms;
    struct address peer;   /* or for whom it asks, by the PROXY protocol */
    uint32_t ticket;       /* of set->addresses */
    uint32_t finished;     /* of its requests, those that are done with */
    bool is_introduced;    /* peer is what a proxy has said */
    uint64_t number;       /* of all connections of the server */
    uint32_t position;     /* in the scheduler, as its row came; when timed */
    uint32_t waiting;      /* there were so many then, itself included */
    struct list wait_node; /* in the set's, while it is WAITING */
};

/* Takes a new connection over, whose first request is probably there. */
void conn_start(struct conn *conn);

/* Its turn to send has come: it was taken out of the scheduler. Returns how
 * many bytes went. */
uint64_t conn_run(struct conn *conn);

/* It is WAITING, and there may be more of its answer. */
void conn_wake(struct conn *conn);

/* exchange_wake(), of exchanges that a connection serves. */
void conn_on_wake(struct exchange *exchange);

/* Its deadline is over. */
void conn_expire(struct conn *conn);

/* Closes it now, whatever it is doing; end is why, unless what has been sent
 * whole was to be the last anyway. */
void conn_close(struct conn *conn, enum conn_end end);

/* "client", "idle" and so on. */
const char *conn_end_name(enum conn_end end);

/* Whether nothing is under way: a kept-alive connection between requests. */
bool conn_is_idle(const struct conn *conn);

#endif
