/*
 * upstream_priv - what the three files of upstream share. Each calls only those
 * below it; word travels up by upstream_events.
 *
 *   upstream.c          servers, and who asks
 *   upstream_connect.c  how a connection comes to be
 *   upstream_conn.c     the life of one
 *
 *   connecting --first--> (TLS) --> in use --kept--> idle --leased--> in use
 *
 * Invariant: a connection is one of those that are being tried, has a lease (it
 *            is in use), or neither: then it is in the list of idle ones.
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

/* What becomes of connecting, once, for the lease it was started for; and of
 * the socket of one of its attempts. */
struct upstream_events {
    void (*on_won)(struct upstream_lease *lease, struct upstream *upstream);
    /* err: of the system call, or 0; why: of TLS, or NULL. */
    void (*on_lost)(struct upstream_lease *lease, enum upstream_error error,
                    int err, const char *why);
    void (*on_connected)(struct upstream *upstream, bool has_failed);
};

/* A limit of time, and what then. */
struct upstream_alarm {
    struct deadline deadline;
    void (*on_due)(struct upstream_alarm *alarm);
};

struct upstream_server {
    struct upstream_pool *pool;
    const struct upstream_endpoint *endpoint;
    struct upstream_counts *counts;
    struct tls_target *tls;     /* NULL: it is asked in clear text */
    struct resolver_name *name; /* NULL: a unix socket */
    unsigned changes;           /* how often its addresses have changed */
    struct list waiting;    /* connectings that wait for the first addresses */
    struct list backlogged; /* connectings that wait for room in its backlog */
    ev_timer backlog_retries; /* on while there are */
    struct list idle;         /* newest first */
    unsigned idle_count;
    struct log_limit failures;
    /* this worker ejected it, and has not seen it well since */
    bool was_ejected;
};

struct upstream {
    ev_io reading; /* on, but while connecting or paused */
    ev_io writing; /* on while connecting or waited for */
    /* its socket is that of reading and writing */
    struct transport transport;
    struct list list_node;            /* of those that connect, or are idle */
    struct upstream_alarm idle_limit; /* left on while it is in use */
    struct upstream_server *server;
    struct upstream_connecting *connecting;
    struct upstream_lease *lease;
    struct address address;
    unsigned changes;  /* as of when its address was last known */
    unsigned requests; /* that it was opened or taken for */
    bool has_rto_max;  /* see upstream_bound_rto() */
};

/* Happy eyeballs (RFC 8305): one lease, while addresses are tried. */
struct upstream_connecting {
    struct list list_node; /* of those that wait, or try again */
    struct upstream_lease *lease;
    struct upstream_server *server;
    struct upstream_alarm limit; /* of all of it */
    struct upstream_alarm next;  /* when the next address is tried */
    struct list attempts;        /* connections under way */
    struct address addresses[RESOLVER_ADDRESSES_MAX];
    size_t count;
    size_t at;                 /* the next */
    unsigned rounds;           /* through all addresses, without an answer */
    uint64_t since_ms;         /* of this round's last */
    enum upstream_error error; /* of the last connection that has failed */
    int err;                   /* of that one, as errno says it */
    const char *why;           /* of that one, as TLS says it; NULL: nothing */
    bool is_shaking;           /* one is connected: TLS is to follow */
};

struct upstream_pool {
    struct upstream_options options;
    struct upstream_events events;
    struct ev_loop *loop; /* NULL: not started */
    const struct now *now;
    struct tls_buffers *tls_buffers;
    struct balance *balance;
    struct retry_budget budget;
    struct deadline_wheel wheel;
    struct pool upstreams;
    struct pool connectings;
    struct log_limit refusals; /* UPSTREAM_NONE */
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

/* A connection with neither lease nor socket. NULL: no memory. */
struct upstream *upstream_create(struct upstream_server *server);

/* Gives it fd, which is its own from now on. */
void upstream_set_fd(struct upstream *upstream, int fd);

/* What gets lost on its way is sent again each second, however often that was,
 * until the server has been heard of: one whose backlog is full loses it all.
 * (A kernel before 6.15 waits twice as long each time.) */
void upstream_bound_rto(struct upstream *upstream);

/* Closes what there is, wherever it is linked. */
void upstream_close(struct upstream *upstream);

/* Connected, or idle so far: it is this lease's. */
void upstream_give_to(struct upstream *upstream, struct upstream_lease *lease);

/* Keeps an upstream that is nobody's any more: idle, or else closed. */
void upstream_keep(struct upstream *upstream, uint64_t idle_ms);

/* The newest idle one that is not known to be closed, or NULL. */
struct upstream *upstream_take_idle(struct upstream_server *server);

/* Closes those to addresses which server has no more. */
void upstream_close_moved(struct upstream_server *server);

/* Closes an idle connection, for the sake of its descriptor. False: there is
 * none. */
bool upstream_close_one_idle(struct upstream_pool *pool);

/* --- upstream_attempt.c -------------------------------------------------- */

/* How often all addresses are tried anew; the last round is left to the
 * kernel. */
enum { UPSTREAM_ROUNDS_MAX = 4 };

/* Connects to one address. 0: *upstream_out is connected, and among the
 * attempts; -EINPROGRESS: it is the latter only; another -errno: there is
 * none. */
MUST_USE int upstream_attempt(struct upstream_connecting *connecting,
                              const struct address *address,
                              struct upstream **upstream_out);

/* --- upstream_connect.c -------------------------------------------------- */

/* Starts connecting, which ends in on_won or on_lost, maybe at once. */
void upstream_connecting_start(struct upstream_server *server,
                               struct upstream_lease *lease);

/* Stops connecting, and tells nobody. */
void upstream_connecting_stop(struct upstream_connecting *connecting);

/* Something has happened to its socket, or it has failed. */
void upstream_connecting_note(struct upstream *upstream, bool has_failed);

/* A connection to it has ended: there may be a place for another. */
void upstream_connecting_retry_backlog(struct upstream_server *server);

/* What the timer of retries calls. */
void upstream_on_backlog_retry(struct ev_loop *loop, ev_timer *backlog_retries,
                               int events);

/* Wakes all that waits for the addresses of a server: they are known, or will
 * not be. */
void upstream_connecting_wake(struct upstream_server *server);

#endif
