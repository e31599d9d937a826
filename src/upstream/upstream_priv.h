/*
 * upstream_priv - shared by the files of upstream. Each calls only those below
 * it; they call upper files only by upstream_events.
 *
 *   upstream.c          servers and leases
 *   upstream_connect.c  how a connection is made
 *   upstream_conn.c     the life of a connection
 *
 *   connecting --first--> (TLS) --> in use --kept--> idle --leased--> in use
 *
 * Invariant: a connection is being tried, or has a lease (it is in use), or is
 *            in the list of idle ones.
 */
#ifndef UPSTREAM_UPSTREAM_PRIV_H
#define UPSTREAM_UPSTREAM_PRIV_H

#include "base/list.h"
#include "base/log.h"
#include "base/pool.h"
#include "io/deadline.h"
#include "upstream/retry_budget.h"
#include "upstream/upstream.h"

enum { UPSTREAM_LOG_INTERVAL_MS = 10000 };

/* How a connecting ends, told once for the lease it was started for; and events
 * of the sockets that it tries. */
struct upstream_events {
    void (*on_won)(struct upstream_lease *lease, struct upstream *upstream);
    /* err: a system call's errno, or 0; why: the reason from TLS, or NULL. */
    void (*on_lost)(struct upstream_lease *lease, enum upstream_error error,
                    int err, const char *why);
    void (*on_connected)(struct upstream *upstream, bool has_failed);
};

/* A time limit, and what to call then. */
struct upstream_alarm {
    struct deadline deadline;
    void (*on_due)(struct upstream_alarm *alarm);
};

struct upstream_server {
    struct upstream_pool *pool;
    const struct upstream_endpoint *endpoint;
    struct upstream_counts *counts;
    struct tls_target *tls;     /* NULL: without TLS */
    struct resolver_name *name; /* NULL: a unix socket */
    unsigned changes;           /* how often its addresses have changed */
    struct list waiting;    /* connectings that wait for the first addresses */
    struct list backlogged; /* connectings that wait for room in its backlog */
    ev_timer backlog_retries; /* on while backlogged is not empty */
    struct list idle;         /* newest first */
    unsigned idle_count;
    struct log_limit failures;
    /* this worker ejected it, and it has not succeeded since */
    bool was_ejected;
};

struct upstream {
    ev_io reading; /* on, except while connecting or paused */
    ev_io writing; /* on while connecting, or when asked for */
    /* uses the socket of reading and writing */
    struct transport transport;
    struct list list_node;            /* node of connecting or idle ones */
    struct upstream_alarm idle_limit; /* not dropped while in use */
    struct upstream_server *server;
    struct upstream_connecting *connecting;
    struct upstream_lease *lease;
    struct address address;
    unsigned changes;  /* server->changes when its address was last seen */
    unsigned requests; /* exchanges it has carried, with this one */
    bool has_rto_max;  /* see upstream_bound_rto() */
};

/* Happy eyeballs (RFC 8305) for one lease, while addresses are tried. */
struct upstream_connecting {
    struct list list_node; /* linked into server->waiting or ->backlogged */
    struct upstream_lease *lease;
    struct upstream_server *server;
    struct upstream_alarm limit; /* limit of the whole connecting */
    struct upstream_alarm next;  /* time until the next address is tried */
    struct list attempts;        /* connections under way */
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    size_t count;
    size_t at;                 /* index of the next address */
    unsigned rounds;           /* through all addresses, unanswered */
    uint64_t since_ms;         /* when this round's last try began */
    enum upstream_error error; /* reason of the last failed connection */
    int err;                   /* that one's errno */
    const char *why;           /* that one's reason from TLS, or NULL */
    bool is_shaking;           /* connected; the TLS handshake is under way */
};

struct upstream_pool {
    struct upstream_options options;
    struct upstream_events events;
    struct ev_loop *loop; /* NULL before the start */
    const struct now *now;
    struct tls_buffers *tls_buffers;
    struct balance *balance;
    struct retry_budget budget;
    struct deadline_wheel wheel;
    struct pool upstreams;
    struct pool connectings;
    struct log_limit refusals; /* logs of UPSTREAM_NONE */
    struct upstream_server servers[];
};

static inline void upstream_alarm_set(struct upstream_pool *pool,
                                      struct upstream_alarm *alarm,
                                      uint64_t after_ms)
{
    deadline_set(&pool->wheel, &alarm->deadline, pool->now->mono_ms + after_ms);
}

static inline void upstream_alarm_drop(struct upstream_pool *pool,
                                       struct upstream_alarm *alarm)
{
    deadline_drop(&pool->wheel, &alarm->deadline);
}

static inline void upstream_count(_Atomic uint64_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* --- upstream_conn.c ----------------------------------------------------- */

/* Makes a connection without lease or socket. NULL: no memory. */
struct upstream *upstream_create(struct upstream_server *server);

/* Gives fd to the connection, which then owns it. */
void upstream_set_fd(struct upstream *upstream, int fd);

/* Makes the kernel send lost packets again each second until the server has
 * answered: a server with a full backlog loses them all. (A kernel before 6.15
 * waits twice as long each time.) */
void upstream_bound_rto(struct upstream *upstream);

/* Closes the connection, in whatever state, and unlinks it. */
void upstream_close(struct upstream *upstream);

/* Gives a connected or idle connection to the lease. */
void upstream_give_to(struct upstream *upstream, struct upstream_lease *lease);

/* Keeps a connection that has no lease any more as idle, or closes it. */
void upstream_keep(struct upstream *upstream, uint64_t idle_ms);

/* Takes the newest idle connection that is not known to be closed, or NULL. */
struct upstream *upstream_take_idle(struct upstream_server *server);

/* Closes idle connections to addresses that the server no longer has. */
void upstream_close_moved(struct upstream_server *server);

/* Closes an idle connection to free its descriptor. False: there is none. */
bool upstream_close_one_idle(struct upstream_pool *pool);

/* --- upstream_attempt.c -------------------------------------------------- */

/* Rounds through all addresses; in the last one, the kernel retransmits
 * alone. */
enum { UPSTREAM_ROUNDS_MAX = 4 };

/* Connects to one address. Returns 0: *upstream_out is connected, and in
 * attempts; -EINPROGRESS: it is in attempts; another -errno: there is none. */
MUST_USE int upstream_attempt(struct upstream_connecting *connecting,
                              const struct address *address,
                              struct upstream **upstream_out);

/* --- upstream_connect.c -------------------------------------------------- */

/* Starts to connect, which ends in on_won or on_lost, perhaps at once. */
void upstream_connecting_start(struct upstream_server *server,
                               struct upstream_lease *lease);

/* Stops connecting, without calling on_won or on_lost. */
void upstream_connecting_stop(struct upstream_connecting *connecting);

/* Tells that an attempt's socket has an event, or has failed. */
void upstream_connecting_note(struct upstream *upstream, bool has_failed);

/* A connection to the server has ended: its backlog may have room now. */
void upstream_connecting_retry_backlog(struct upstream_server *server);

/* Called by the timer backlog_retries. */
void upstream_on_backlog_retry(struct ev_loop *loop, ev_timer *backlog_retries,
                               int events);

/* Wakes all that wait for the server's addresses, which are known or cannot be
 * found. */
void upstream_connecting_wake(struct upstream_server *server);

#endif
