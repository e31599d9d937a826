/*
 * proxy - answers requests by asking another server (RFC 9110 7, RFC 9112).
 *
 *   request --> relay_request --> [ out ] --> upstream
 *      body ---- sink ------------^
 *   response <- relay_reply <---- [ in ] <--- upstream
 *      body <--- source (lent) ---^
 *                 or [ pipe ] <---^
 *
 * A transfer is one exchange on its way. Both ways go on at once, each through
 * a buffer of its own of buffer_bytes: a slow side makes the other wait, and
 * not memory grow. Nobody is asked before request_bytes of a body are there, or
 * all of it: a client that sends slowly does not occupy an upstream. Nor is
 * anybody before answer was called: a body may come while its client's password
 * is being checked. What is short and there in one read leaves in one send,
 * with its head, from the buffer it was read into. What is left of a long body
 * goes through a pipe (splice(2)), as long as it is framed alike on both sides.
 *
 *   OPENING --> SENDING --> RELAYING --> done, and the upstream is idle again
 *      |  ^        |           |
 *      |  +-retry--+           +--> broken off: the client's connection too
 *      +--> 502, 503, 504      +--> TUNNEL (101): raw bytes, until both ended
 *
 * A request is tried again only while nothing of a reply to it has come, with
 * a method that may be repeated (RFC 9110 9.2.2) or none of it sent, and
 * with all of its body still at hand; within the budget (balance.h). One that
 * went over a kept connection which turned out to be closed is tried anew once,
 * likewise.
 *
 * Thread: one per worker; no locks.
 * Owns:   its pool of servers, transfers and buffers.
 */
#ifndef HANDLER_PROXY_PROXY_H
#define HANDLER_PROXY_PROXY_H

#include "handler/handler.h"
#include "http/relay/relay.h"
#include "io/pipes.h"
#include "upstream/upstream.h"

/* The longest head of a reply, and what one read of a body may bring. */
enum { PROXY_BUFFER_BYTES_MIN = 32768 };

/* What lies in the memory of one worker of bodies for which nobody has been
 * asked yet. With HELD_BYTES_MAX of them none waits any more: an upstream is
 * asked for whatever comes. */
enum { PROXY_HELD_BYTES_MAX = 16 * 1024 * 1024 };

struct proxy_held {
    size_t bytes;
};

enum proxy_host { PROXY_HOST_KEEP, PROXY_HOST_UPSTREAM };

/* What becomes of a request without a valid traceparent. */
enum proxy_trace { PROXY_TRACE_PASS, PROXY_TRACE_MAKE };

/* What becomes of "%2F" in a path: it passes as it is where nobody here could
 * take it for something else (sites.c), or wherever. */
enum proxy_slash { PROXY_SLASH_SAFE, PROXY_SLASH_PASS };

/* What BALANCE_HASH goes by. */
enum proxy_hash { PROXY_HASH_ADDRESS, PROXY_HASH_URI, PROXY_HASH_FIELD };

struct proxy_options {
    struct upstream_options upstream;
    struct relay relay; /* but for host: the server's that is asked */
    enum proxy_hash hash;
    struct bytes hash_field; /* name, of PROXY_HASH_FIELD */
    size_t buffer_bytes;     /* each way */
    size_t request_bytes;    /* of a body that are here, or all of it, before an
                                upstream is asked; or a full buffer */
    struct proxy_held *held; /* borrowed, of all proxies of the worker; NULL:
                                nobody counts */
    enum proxy_slash slash;
    bool splices;           /* by pipes, if there are any */
    bool names_requests;    /* X-Request-Id: trace.h */
    bool makes_traceparent; /* where a request has none */
    bool intercepts_errors; /* of upstreams, where the place has a page */
    struct pipes *pipes;    /* borrowed; NULL: all is copied */
    uint64_t reply_ms;      /* from the request's last byte to a head */
    uint64_t idle_ms;       /* for so long no byte may come or go */
    uint64_t tunnel_ms;     /* for so long no byte may come or go in a tunnel */
    const struct server_defaults *defaults; /* borrowed */
};

struct proxy; /* opaque */

/* Memory only. NULL: there is none. */
MUST_USE struct proxy *proxy_create(const struct proxy_options *options);

/* Starts the pool, on the worker's thread and before its first request. Returns
 * what upstream_pool_start() does. */
MUST_USE int proxy_start(struct proxy *proxy, const struct upstream_loop *loop);

/* Destroys the proxy, all of whose exchanges are done. NULL is accepted. */
void proxy_destroy(struct proxy *proxy);

struct handler proxy_handler(struct proxy *proxy);

/* Has hear called with the head of each reply that is final, before it is
 * passed on, and what it is passed on by. Once, before the first request. */
void proxy_report(struct proxy *proxy,
                  void (*hear)(void *context, const struct exchange *exchange,
                               const struct reply *reply,
                               const struct relay *relay),
                  void *context);

/* The pool, which probes and statistics look at. */
struct upstream_pool *proxy_pool(const struct proxy *proxy);

#endif
