/*
 * upstream_priv - shared by the files of upstream. Each file calls only files
 * listed below it, and calls upper files only through upstream_events.
 *
 *   upstream.c          servers and leases
 *   upstream_connect.c  how a connection is made
 *   upstream_conn.c     the life of a connection
 *
 *   connecting --first--> (TLS) --> in use --kept--> idle --leased--> in use
 *
 * Invariant: a connection is being tried, or is in use (has a lease), or is in
 *            the list of idle connections.
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

/* For each lease whose connecting was started, either on_won or on_lost is
 * called, once. on_connected is called when a socket that is tried has an
 * event. */
struct upstream_events {
    void (*on_won)(struct upstream_lease *lease, struct upstream *upstream);
    /* `err` is a system call's errno, or 0. `why` is TLS's reason, or NULL. */
    void (*on_lost)(struct upstream_lease *lease, enum upstream_error error,
                    int err, const char *why);
    void (*on_connected)(struct upstream *upstream, bool has_failed);
};

/* A time limit, and the function to call when the time is over. */
struct upstream_alarm {
    struct deadline deadline;
    void (*on_due)(struct upstream_alarm *alarm);
};

struct upstream_server {
    struct upstream_pool *pool;
    const struct upstream_endpoint *endpoint;
    struct upstream_counts *counts;
    struct tls_target *tls;     /* NULL: the server is asked without TLS */
    struct resolver_name *name; /* NULL: the server has a unix socket */
    unsigned changes;           /* counts changes of the addresses */
    struct list waiting;    /* connectings that wait for the first addresses */
    struct list backlogged; /* connectings that wait for room in the backlog */
    ev_timer backlog_retries; /* on while `backlogged` has members */
    struct list idle;         /* newest first */
    unsigned idle_count;
    struct log_limit failures;
    /* This worker has ejected the server, and has seen no success since. */
    bool was_ejected;
};

struct upstream {
    ev_io reading; /* on, unless connecting or paused */
    ev_io writing; /* on while connecting, or when asked for */
    /* Its socket is watched by `reading` and `writing`. */
    struct transport transport;
    /* In the list `attempts` of a connecting, or in server->idle. */
    struct list list_node;
    struct upstream_alarm idle_limit; /* no effect on a connection in use */
    struct upstream_server *server;
    struct upstream_connecting *connecting;
    struct upstream_lease *lease;
    struct address address;
    unsigned changes;  /* server->changes when DNS last gave this address */
    unsigned requests; /* exchanges carried, the present one included */
    bool has_rto_max;  /* upstream_bound_rto() is in force */
};

/* The attempts to connect for one lease, by happy eyeballs (RFC 8305). */
struct upstream_connecting {
    struct list list_node; /* linked into server->waiting or ->backlogged */
    struct upstream_lease *lease;
    struct upstream_server *server;
    struct upstream_alarm limit; /* time limit of all attempts */
    struct upstream_alarm next;  /* time until the next address is tried */
    struct list attempts;        /* connections under way */
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    size_t count;
    size_t at;                 /* index of the next address */
    unsigned rounds;           /* unanswered rounds through all addresses */
    uint64_t since_ms;         /* when this round's last try began */
    enum upstream_error error; /* reason of the last failed connection */
    int err;                   /* errno of the last failed connection */
    const char *why;           /* TLS's reason for the last failure, or NULL */
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
    struct log_limit refusals; /* for log messages about UPSTREAM_NONE */
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

/* Makes a connection without lease or socket. Returns NULL if there is no
 * memory. */
struct upstream *upstream_create(struct upstream_server *server);

/* Gives `fd` to the connection, which then owns it. */
void upstream_set_fd(struct upstream *upstream, int fd);

/* Makes the kernel retransmit each second until the server has answered,
 * because a server with a full backlog drops all packets. Without this, as in
 * kernels before 6.15, each wait is twice as long as the one before. */
void upstream_bound_rto(struct upstream *upstream);

/* Closes the connection, in whatever state, and unlinks it. */
void upstream_close(struct upstream *upstream);

/* Gives a connected or idle connection to the lease. */
void upstream_give_to(struct upstream *upstream, struct upstream_lease *lease);

/* Ends the connection's lease. Keeps the connection as idle if possible;
 * otherwise closes the connection. */
void upstream_keep(struct upstream *upstream, uint64_t idle_ms);

/* Takes the newest idle connection that is not known to be closed. Returns NULL
 * if there is none. */
struct upstream *upstream_take_idle(struct upstream_server *server);

/* Closes idle connections to addresses that the server no longer has. */
void upstream_close_moved(struct upstream_server *server);

/* Closes an idle connection to free its descriptor. Returns false if there is
 * no idle connection. */
bool upstream_close_one_idle(struct upstream_pool *pool);

/* --- upstream_attempt.c -------------------------------------------------- */

/* The most rounds through all addresses, not counting the first round, while no
 * address answers. In the last round no new connection is tried; only the
 * kernel retransmits. */
enum { UPSTREAM_ROUNDS_MAX = 4 };

/* Connects to one address. Returns 0 when *upstream_out is connected,
 * -EINPROGRESS while it is connecting, and another -errno if there is no
 * connection. In the first two cases *upstream_out is in the list `attempts` of
 * `connecting`. */
MUST_USE int upstream_attempt(struct upstream_connecting *connecting,
                              const struct address *address,
                              struct upstream **upstream_out);

/* --- upstream_connect.c -------------------------------------------------- */

/* Starts to connect. The end is a call of on_won or on_lost, perhaps before
 * this function returns. */
void upstream_connecting_start(struct upstream_server *server,
                               struct upstream_lease *lease);

/* Stops connecting, without calling on_won or on_lost. */
void upstream_connecting_stop(struct upstream_connecting *connecting);

/* Handles an event of an attempt's socket. `has_failed` says that the loop
 * could not watch the socket. */
void upstream_connecting_note(struct upstream *upstream, bool has_failed);

/* Retries the connectings in server->backlogged soon. Called when a connection
 * to the server has ended, since the backlog may have room now. */
void upstream_connecting_retry_backlog(struct upstream_server *server);

/* The callback of the timer server->backlog_retries. */
void upstream_on_backlog_retry(struct ev_loop *loop, ev_timer *backlog_retries,
                               int events);

/* Continues all connectings in server->waiting. Called when the server's
 * addresses are known or cannot be found. */
void upstream_connecting_wake(struct upstream_server *server);

#endif
