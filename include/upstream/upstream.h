/*
 * upstream - pools of kept-alive connections to other servers.
 *
 *   lease -> [ balance ] --> server --> idle one, newest first ------> on_open
 *                             |  none                                    ^
 *                             +--> addresses --> connect, next after ----+
 *                                  250 ms (RFC 8305) or a failure;
 *                                  then TLS, if the server has tls_name
 *
 *   upstream_release(reusable) --> idle list of its server, or closed
 *
 * An upstream is one connection to a server, used by one asker at a time. The
 * watcher for reading is on for the connection's whole life (one epoll_ctl);
 * the watcher for writing is on only after upstream_wait_writable(). An idle
 * upstream that becomes readable has ended and is closed. If the server closed
 * an idle upstream unnoticed, the next use fails, and the asker retries
 * (is_reused). When the server's name loses an address, connections to this
 * address are closed. When no address answers, as with a full backlog,
 * connecting is repeated until connect_ms are over.
 *
 * Thread: a pool belongs to one worker, but any thread may call
 *         upstream_pool_create().
 * Owns:   the connections and names; the process owns what balances share.
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
    UPSTREAM_LEASE_URI_MAX = 200, /* most bytes of a URI in the log */
    UPSTREAM_LEASE_TEXT_BYTES = UPSTREAM_LEASE_URI_MAX + 200
};

/* Where a server listens; the texts must outlive the pool. */
struct upstream_endpoint {
    struct bytes host; /* a name or an address, without brackets */
    uint16_t port;
    /* path of a unix socket, used instead of host; or NULL */
    const char *unix_path;
    struct bytes authority; /* the default value of Host */
    /* name in the server's certificate; empty: the server speaks no TLS */
    struct bytes tls_name;
};

/* Returns the name of a server for logs. */
static inline struct bytes upstream_name(const struct upstream_endpoint *of)
{
    return of->unix_path ? bytes_of(of->unix_path) : of->authority;
}

/* Counters of one server, summed over all workers. They serve statistics only,
 * so relaxed atomics are enough. The asker counts bytes; the pool counts
 * everything else. */
struct upstream_counts {
    /* requests for which the server was chosen, retries included */
    _Atomic uint64_t requests;
    _Atomic uint64_t failures; /* failures reported to the balance */
    _Atomic uint64_t connects; /* new connections */
    _Atomic uint64_t reuses;
    _Atomic uint64_t retries;  /* requests retried after the server failed */
    _Atomic uint64_t bytes_in; /* received from the server */
    _Atomic uint64_t bytes_out;
    _Atomic uint64_t handshakes; /* TLS handshakes completed */
    _Atomic uint64_t resumed;    /* TLS handshakes that resumed a session */
    _Atomic uint64_t handshakes_failed;
    _Atomic uint32_t idle; /* idle connections now */
};

struct upstream_shared {
    struct balance_server_shared *balance; /* server_count elements */
    struct upstream_counts *counts;        /* server_count elements */
};

struct upstream_options {
    /* endpoints, servers and shared are borrowed */
    const struct upstream_endpoint *endpoints;
    const struct balance_server *servers;
    const struct upstream_shared *shared;
    size_t server_count;
    struct balance_options balance;
    uint64_t connect_ms;       /* time limit of all attempts to connect */
    unsigned idle_max;         /* idle connections kept to each server */
    uint64_t idle_ms;          /* how long an idle connection is kept */
    unsigned requests_max;     /* requests per connection; 0: no limit */
    unsigned retries_max;      /* retries per request; 0: no retries */
    struct tls_connector *tls; /* borrowed; NULL if no server speaks TLS */
};

/* What a pool uses of its worker; all of it is borrowed. */
struct upstream_loop {
    struct ev_loop *loop;
    const struct now *now; /* refreshed each turn */
    struct resolver *resolver;
    struct tls_buffers *tls_buffers; /* NULL if no server speaks TLS */
};

enum upstream_error {
    UPSTREAM_OK,
    UPSTREAM_REFUSED,    /* connection refused, or no route: 502 */
    UPSTREAM_UNRESOLVED, /* the server's name has no address: 502 */
    UPSTREAM_TLS,        /* TLS handshake failed: 502 */
    UPSTREAM_UNTRUSTED,  /* the server's certificate was not trusted: 502 */
    UPSTREAM_TIMEOUT,    /* looking up and connecting took too long: 504 */
    UPSTREAM_NONE,       /* all servers are down or at their limits: 503 */
    /* this machine lacks memory, descriptors or ports: 503 */
    UPSTREAM_SHORT
};

struct upstream; /* opaque, like the next two structs */
struct upstream_connecting;
struct upstream_pool;

/* A request for a connection, embedded in the asker's struct. The asker zeroes
 * the private fields before the first start. Each callback may cancel, restart
 * or free the lease. */
struct upstream_lease {
    struct bytes uri; /* for the log: the URI in the request to the server */
    /* for the log: the request's id; empty if the log shall show no id */
    struct bytes request_id;
    uint64_t hash; /* see balance_take() */
    /* bits of servers to avoid; the pool adds the servers it takes */
    uint64_t tried;
    /* Either on_open or on_failed is called, once, from the loop or within
     * upstream_lease_start(). */
    void (*on_open)(struct upstream_lease *lease);
    void (*on_failed)(struct upstream_lease *lease);
    /* on_readable and on_writable are called only while the lease is open. */
    void (*on_readable)(struct upstream_lease *lease);
    /* Called once after each upstream_wait_writable(). */
    void (*on_writable)(struct upstream_lease *lease);
    /* The result of the lease. */
    struct upstream *upstream;
    enum upstream_error error;
    int server;     /* number of the server taken; -1: none was taken */
    bool is_reused; /* the connection has carried exchanges before */
    bool is_retry;  /* private, like all members below */
    bool wants_new; /* the lease must not get an idle connection */
    /* Not NULL while the lease waits for a new connection. */
    struct upstream_connecting *connecting;
    struct upstream_pool *pool;
};

/* Creates a pool, which opens nothing yet. Returns NULL if there is no
 * memory. */
MUST_USE struct upstream_pool *upstream_pool_create(
    const struct upstream_options *options);

/* Begins to look up names. Returns 0, or -errno if a name is impossible or
 * there is no memory. A name without addresses is no error, since it may get
 * addresses later. */
MUST_USE int upstream_pool_start(struct upstream_pool *pool,
                                 const struct upstream_loop *loop);

/* Destroys a pool that has no open leases. Must not be called from a lease's
 * callback. NULL is accepted. */
void upstream_pool_destroy(struct upstream_pool *pool);

/* Asks for a connection to one of the servers. Only one server is tried. When
 * that server fails, the balance notes the failure, lease->server names the
 * server, and on_failed is called. The asker may start the lease anew if
 * upstream_may_retry() agrees. */
void upstream_lease_start(struct upstream_pool *pool,
                          struct upstream_lease *lease);

/* Ends a lease, which may be in any state, and need not have been started. The
 * connection is closed, no callback follows, and the balance notes
 * BALANCE_NEITHER. */
void upstream_lease_cancel(struct upstream_lease *lease);

/* Ends the lease after its exchange. `reusable` says that nothing is left to
 * read or send, and that the server keeps the connection open. `idle_ms` says
 * for how long (Keep-Alive: timeout=), or is 0 if the server did not say. If a
 * reused connection turned out to be closed, the caller passes BALANCE_NEITHER
 * as `result`, since the server has not failed. */
void upstream_release(struct upstream_lease *lease, bool reusable,
                      uint64_t idle_ms, enum balance_result result);

/* Whether the request may be tried once more, after on_failed, a release or a
 * cancel. `retries` is the number of retries so far, which must be below
 * retries_max. Another server must be up and untried. The budget must have a
 * retry left, which this call uses up. If `was_stale`, a reused connection was
 * closed before an answer came. Then the server has not failed, and one more
 * try over a new connection is allowed, whatever the limits say. */
MUST_USE bool upstream_may_retry(struct upstream_lease *lease, unsigned retries,
                                 bool was_stale);

/* Writes the end of a log message about a lease, such as "; URI '/x', request
 * 4bf9", into `text`. Returns `text`. */
const char *upstream_describe_ask(const struct upstream_lease *lease,
                                  char text[UPSTREAM_LEASE_TEXT_BYTES]);

const struct transport *upstream_transport(const struct upstream *upstream);
const struct upstream_endpoint *upstream_endpoint_of(
    const struct upstream_pool *pool, int server);

/* Makes the loop call on_writable once the socket takes more. */
void upstream_wait_writable(struct upstream_lease *lease);

/* Stops reading until upstream_resume() is called (back-pressure). */
void upstream_pause(struct upstream_lease *lease);
void upstream_resume(struct upstream_lease *lease);

/* Makes the loop call on_readable soon, unless the lease is paused. An asker
 * that leaves bytes of TLS unread needs this call: these bytes have left the
 * socket, so the socket does not signal them again. */
void upstream_read_again(struct upstream_lease *lease);

struct balance *upstream_balance(struct upstream_pool *pool);
unsigned upstream_retry_after_s(const struct upstream_pool *pool);

#endif
