/*
 * upstream - pools of kept-alive connections to other servers.
 *
 *   lease -> [ balance ] --> server --> idle one, newest first ------> on_open
 *                             |  none                                    ^
 *                             +--> addresses --> connect, next after ----+
 *                                  250 ms (RFC 8305) or a failure;
 *                                  then, where it is told so, TLS
 *
 *   upstream_release(reusable) --> idle list of its server, or closed
 *
 * One asker at a time uses an upstream. The watcher for reading is on for its
 * whole life (one epoll_ctl); that for writing only after
 * upstream_wait_writable(). An idle upstream that becomes readable has ended,
 * and is closed. If the server closed it unnoticed, its next use fails, and the
 * asker retries (is_reused). Connections to addresses that the server's name no
 * longer has are closed. When all addresses are silent, as behind a full
 * backlog, connecting is repeated within connect_ms.
 *
 * Thread: one worker's; but any thread may call upstream_pool_create().
 * Owns:   the connections and names; the server owns what balances share.
 */
#ifndef UPSTREAM_UPSTREAM_H
#define UPSTREAM_UPSTREAM_H

#include <ev.h>

#include "base/address.h"
#include "base/list.h"
#include "base/now.h"
#include "io/resolver.h"
#include "io/transport.h"
#include "upstream/balance.h"

enum {
    UPSTREAM_UNIX_PATH_MAX = 107,
    UPSTREAM_LEASE_URI_MAX = 200, /* bytes of a URI shown in the log */
    UPSTREAM_LEASE_TEXT_BYTES = UPSTREAM_LEASE_URI_MAX + 200
};

/* Where a server listens; the texts must outlive the pool. */
struct upstream_endpoint {
    struct bytes host; /* a name or an address, without brackets */
    uint16_t port;
    const char *unix_path;  /* not NULL: a unix socket instead */
    struct bytes authority; /* the default value of Host */
    struct bytes tls_name;  /* name in its certificate; empty: without TLS */
};

/* The name of a server in logs. */
static inline struct bytes upstream_name(const struct upstream_endpoint *of)
{
    return of->unix_path ? bytes_of(of->unix_path) : of->authority;
}

/* Counters of one server, all workers together: relaxed, for statistics. The
 * asker counts bytes, the pool everything else. */
struct upstream_counts {
    _Atomic uint64_t requests; /* those for which it was chosen, with retries */
    _Atomic uint64_t failures; /* failures, as reported to balance */
    _Atomic uint64_t connects; /* new connections */
    _Atomic uint64_t reuses;
    _Atomic uint64_t retries;  /* requests tried again after this server */
    _Atomic uint64_t bytes_in; /* received from it */
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t handshakes; /* TLS handshakes completed */
    _Atomic uint64_t resumed;    /* of these, resumed sessions */
    _Atomic uint64_t handshakes_failed;
    _Atomic uint32_t idle; /* idle connections now */
};

struct upstream_shared {
    struct balance_server_shared *balance; /* server_count of them */
    struct upstream_counts *counts;        /* server_count of them */
};

struct upstream_options {
    const struct upstream_endpoint *endpoints; /* with the next two: borrowed */
    const struct balance_server *servers;
    const struct upstream_shared *shared;
    size_t server_count;
    struct balance_options balance;
    uint64_t connect_ms;       /* to connect, over all addresses together */
    unsigned idle_max;         /* idle connections kept to each server */
    uint64_t idle_ms;          /* how long an idle one is kept */
    unsigned requests_max;     /* per connection; 0: no limit */
    unsigned retries_max;      /* per request; 0: none */
    struct tls_connector *tls; /* borrowed; NULL: no server is asked over TLS */
};

/* What an upstream takes from its worker; borrowed. */
struct upstream_loop {
    struct ev_loop *loop;
    const struct now *now; /* refreshed each turn */
    struct resolver *resolver;
    struct tls_buffers *tls_buffers; /* NULL: no server is asked over TLS */
};

enum upstream_error {
    UPSTREAM_OK,
    UPSTREAM_REFUSED,    /* connection refused, or no route: 502 */
    UPSTREAM_UNRESOLVED, /* its name has no address: 502 */
    UPSTREAM_TLS,        /* TLS handshake failed: 502 */
    UPSTREAM_UNTRUSTED,  /* its certificate was not trusted: 502 */
    UPSTREAM_TIMEOUT,    /* looking up and connecting took too long: 504 */
    UPSTREAM_NONE,       /* all are down or at their limits: 503 */
    UPSTREAM_SHORT       /* no memory, descriptors or ports here: 503 */
};

struct upstream; /* opaque, and the next two */
struct upstream_connecting;
struct upstream_pool;

/* Embedded in whoever asks. Private fields are zero at first. Any of its
 * callbacks may cancel it, start it anew or free it. */
struct upstream_lease {
    struct bytes uri; /* for the log: the URI asked of the upstream */
    /* For the log: the request's id; empty: the log shows none. */
    struct bytes request_id;
    uint64_t hash;  /* see balance_take() */
    uint64_t tried; /* bits of servers to avoid; the pool adds those it takes */
    /* One of these two is called once, from the loop or within
     * upstream_lease_start(). */
    void (*on_open)(struct upstream_lease *lease);
    void (*on_failed)(struct upstream_lease *lease);
    /* These two are called only while the lease is open. */
    void (*on_readable)(struct upstream_lease *lease);
    void (*on_writable)(struct upstream_lease *lease); /* once, when awaited */
    /* The answer. */
    struct upstream *upstream;
    enum upstream_error error;
    int server;     /* number of the one taken; -1: none */
    bool is_reused; /* it has carried exchanges before */
    bool is_retry;  /* this and all below are private */
    bool wants_new; /* must not get an idle connection */
    struct upstream_connecting *connecting; /* while it is being connected */
    struct upstream_pool *pool;
};

/* NULL: no memory. Nothing is opened yet. */
MUST_USE struct upstream_pool *upstream_pool_create(
    const struct upstream_options *options);

/* Begins to look up names. Returns 0 or -errno: an impossible name, or no
 * memory. A name without addresses is no error: it may get some later. */
MUST_USE int upstream_pool_start(struct upstream_pool *pool,
                                 const struct upstream_loop *loop);

/* Destroys a pool without open leases, but not from a callback of a lease. NULL
 * is accepted. */
void upstream_pool_destroy(struct upstream_pool *pool);

/* Asks for a connection to one of the servers. Only one server is tried: when
 * that fails, on_failed names it (lease->server; balance knows already), and
 * the asker may start anew if upstream_may_retry() agrees. */
void upstream_lease_start(struct upstream_pool *pool,
                          struct upstream_lease *lease);

/* Ends a lease in whatever state, even one never started: its connection is
 * closed, and no callback follows. Balance counts BALANCE_NEITHER. */
void upstream_lease_cancel(struct upstream_lease *lease);

/* Ends the lease after its exchange. reusable: nothing is left to read or send,
 * and the server keeps the connection open. idle_ms: how long the server keeps
 * it (Keep-Alive: timeout=); 0: it did not say. When a reused connection turned
 * out to be closed, that is no failure of the server: BALANCE_NEITHER. */
void upstream_release(struct upstream_lease *lease, bool reusable,
                      uint64_t idle_ms, enum balance_result result);

/* Whether one more try is allowed after on_failed, a release or a cancel:
 * retries (counted by the caller) are below retries_max, another server is up
 * and untried, and the budget has a retry, which is taken. was_stale: a reused
 * connection was closed before it answered. The same server may then be asked
 * again once, over a new connection; this counts against neither, for the
 * server has not failed. */
MUST_USE bool upstream_may_retry(struct upstream_lease *lease, unsigned retries,
                                 bool was_stale);

/* The end of a log message about a lease: "; URI '/x', request 4bf9". Returns
 * text. */
const char *upstream_describe_ask(const struct upstream_lease *lease,
                                  char text[UPSTREAM_LEASE_TEXT_BYTES]);

const struct transport *upstream_transport(const struct upstream *upstream);
const struct upstream_endpoint *upstream_endpoint_of(
    const struct upstream_pool *pool, int server);

/* Makes the loop call on_writable once the socket takes more. */
void upstream_wait_writable(struct upstream_lease *lease);

/* Reads nothing more until upstream_resume(): back-pressure. */
void upstream_pause(struct upstream_lease *lease);
void upstream_resume(struct upstream_lease *lease);

/* Calls on_readable soon, unless paused: the asker has left bytes that were
 * already read from the socket, which will not signal them again. */
void upstream_read_again(struct upstream_lease *lease);

struct balance *upstream_balance(struct upstream_pool *pool);
unsigned upstream_retry_after_s(const struct upstream_pool *pool);

#endif
