/*
 * upstream - connections of ours to other servers, kept alive, in pools.
 *
 *   lease -> [ balance ] --> server --> idle one, newest first ------> on_open
 *                             |  none                                    ^
 *                             +--> addresses --> connect, next after ----+
 *                                  250 ms (RFC 8305) or a failure;
 *                                  then, where it is told so, TLS
 *
 *   upstream_release(reusable) --> idle list of its server, or closed
 *
 * An upstream is used by one asker at a time. While it is, the watcher for
 * reading stays on (one epoll_ctl in its life); that for writing only after
 * upstream_wait_writable(). While it is idle, what becomes readable is its end:
 * it is closed. An idle one that has been closed all the same is found on use:
 * the asker retries (is_reused). To an address that its server's name has no
 * more none is kept. Where all addresses are silent, as behind a full backlog,
 * connecting begins anew, again and again, within connect_ms.
 *
 * Thread: one worker's; upstream_pool_create() any, before
 *         upstream_pool_start().
 * Owns:   the connections, the names; balance's shared part is the server's.
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
    UPSTREAM_LEASE_URI_MAX = 200, /* of a URI in the log */
    UPSTREAM_LEASE_TEXT_BYTES = UPSTREAM_LEASE_URI_MAX + 200
};

/* Where a server listens; texts borrowed for as long as the pool lives. */
struct upstream_endpoint {
    struct bytes host; /* a name or an address, without brackets */
    uint16_t port;
    const char *unix_path;  /* not NULL: instead of these */
    struct bytes authority; /* as Host would say */
    struct bytes tls_name;  /* that its certificate must be for; empty: it is
                               asked in clear text */
};

/* The name of a server in logs. */
static inline struct bytes upstream_name(const struct upstream_endpoint *of)
{
    return of->unix_path ? bytes_of(of->unix_path) : of->authority;
}

/* Counters of one server, of all workers: relaxed; for statistics. The asker
 * counts bytes, the pool the rest. */
struct upstream_counts {
    _Atomic uint64_t requests; /* it was chosen for, retries too */
    _Atomic uint64_t failures; /* as balance was told */
    _Atomic uint64_t connects; /* new connections */
    _Atomic uint64_t reuses;
    _Atomic uint64_t retries;  /* requests begun anew after this server */
    _Atomic uint64_t bytes_in; /* from it */
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t handshakes; /* of TLS, that were done */
    _Atomic uint64_t resumed;    /* of these */
    _Atomic uint64_t handshakes_failed;
    _Atomic uint32_t idle; /* connections, now */
};

struct upstream_shared {
    struct balance_server_shared *balance; /* server_count of them */
    struct upstream_counts *counts;        /* server_count of them */
};

struct upstream_options {
    const struct upstream_endpoint *endpoints; /* borrowed, and the next two */
    const struct balance_server *servers;
    const struct upstream_shared *shared;
    size_t server_count;
    struct balance_options balance;
    uint64_t connect_ms;       /* for a connection, all addresses together */
    unsigned idle_max;         /* kept, of each server, by this worker */
    uint64_t idle_ms;          /* for so long */
    unsigned requests_max;     /* over one connection; 0: any number */
    unsigned retries_max;      /* of one request; 0: none */
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
    UPSTREAM_REFUSED,    /* nobody listens, no route: 502 */
    UPSTREAM_UNRESOLVED, /* the name has no address: 502 */
    UPSTREAM_TLS,        /* no TLS with it: 502 */
    UPSTREAM_UNTRUSTED,  /* it has not shown who it is: 502 */
    UPSTREAM_TIMEOUT,    /* looking up and connecting took too long: 504 */
    UPSTREAM_NONE,       /* all are down or at their limit: 503 */
    UPSTREAM_SHORT       /* of memory, descriptors or ports here: 503 */
};

struct upstream; /* opaque, and the next two */
struct upstream_connecting;
struct upstream_pool;

/* Inside of whoever asks; what is private is zero at first. It may be
 * cancelled, started anew or freed within any of its callbacks. */
struct upstream_lease {
    struct bytes uri; /* for the log: what the upstream is asked for */
    /* For the log: of which request; empty: none is told. */
    struct bytes request_id;
    uint64_t hash;  /* see balance_take() */
    uint64_t tried; /* servers not to ask again; the pool adds each it takes */
    /* One of these two is called once, from the loop; or within
     * upstream_lease_start(). */
    void (*on_open)(struct upstream_lease *lease);
    void (*on_failed)(struct upstream_lease *lease);
    /* Both are called while the lease is open, and only then. */
    void (*on_readable)(struct upstream_lease *lease);
    void (*on_writable)(struct upstream_lease *lease); /* watched for once */
    /* The answer. */
    struct upstream *upstream;
    enum upstream_error error;
    int server;     /* which was taken; -1: none */
    bool is_reused; /* the connection has served before */
    bool is_retry;  /* private, as all below */
    bool wants_new; /* no idle one */
    struct upstream_connecting *connecting; /* while it is being connected */
    struct upstream_pool *pool;
};

/* NULL: no memory. Nothing is opened yet. */
MUST_USE struct upstream_pool *upstream_pool_create(
    const struct upstream_options *options);

/* Begins to look names up. 0 or -errno: a name that cannot be one, no memory.
 * A name without addresses is no error: it may have some later. */
MUST_USE int upstream_pool_start(struct upstream_pool *pool,
                                 const struct upstream_loop *loop);

/* Destroys a pool that nobody asks any more, but not within a callback of a
 * lease. NULL is accepted. */
void upstream_pool_destroy(struct upstream_pool *pool);

/* Wants a connection to one of the servers. Tries one server only: on_failed
 * names it (server, already counted as a failure where it was one), and the
 * asker starts anew if it may (upstream_may_retry()). */
void upstream_lease_start(struct upstream_pool *pool,
                          struct upstream_lease *lease);

/* Lost interest, in whatever state, also in none: the connection is closed, and
 * nothing is told any more. Counts as BALANCE_NEITHER. */
void upstream_lease_cancel(struct upstream_lease *lease);

/* Ends the lease: the exchange over it is done. reusable: nothing is left to be
 * read or sent, and the server said that it persists; idle_ms: for how long it
 * says to keep it idle (Keep-Alive: timeout=), 0: it did not. A reused
 * connection that was found closed is no failure of the server's:
 * BALANCE_NEITHER. */
void upstream_release(struct upstream_lease *lease, bool reusable,
                      uint64_t idle_ms, enum balance_result result);

/* Whether another try is allowed, after on_failed, or a release or cancel:
 * below retries_max (the caller counts), a server untried and up, and within
 * the budget, which it then takes from.
 * was_stale: a reused connection was closed before it answered. Then the same
 * server may be asked again, over a new connection, so only once; neither
 * retries_max nor the budget counts that, for the server has not failed. */
MUST_USE bool upstream_may_retry(struct upstream_lease *lease, unsigned retries,
                                 bool was_stale);

/* How a message about a lease ends: "; URI '/x', request 4bf9". Returns
 * text. */
const char *upstream_describe_ask(const struct upstream_lease *lease,
                                  char text[UPSTREAM_LEASE_TEXT_BYTES]);

const struct transport *upstream_transport(const struct upstream *upstream);
const struct upstream_endpoint *upstream_endpoint_of(
    const struct upstream_pool *pool, int server);

/* on_writable once it takes more. */
void upstream_wait_writable(struct upstream_lease *lease);

/* Back-pressure: nothing is read until it is resumed. */
void upstream_pause(struct upstream_lease *lease);
void upstream_resume(struct upstream_lease *lease);

/* More than was read has come out of the socket, which will not say so again:
 * on_readable soon, unless it is paused. */
void upstream_read_again(struct upstream_lease *lease);

struct balance *upstream_balance(struct upstream_pool *pool);
unsigned upstream_retry_after_s(const struct upstream_pool *pool);

#endif
