/*
 * proxy - answers requests by asking another server (RFC 9110 7, RFC 9112).
 *
 *   request --> relay_request --> [ out ] --> upstream
 *      body ---- sink ------------^
 *   response <- relay_reply <---- [ in ] <--- upstream
 *      body <--- source (lent) ---^
 *                 or [ pipe ] <---^
 *
 * A transfer is one exchange under way. Request and reply are passed on at the
 * same time, each through a buffer of buffer_bytes: a slow side makes the other
 * wait, and memory does not grow. An upstream is asked only when request_bytes
 * of a body, or all of it, have come: a client that sends slowly does not
 * occupy an upstream. It is also asked only after answer was called, since a
 * body may come while its client's password is being checked. A short body that
 * came in one read is sent in one go, with its head, from the buffer it was
 * read into. The rest of a long body goes through a pipe (splice(2)), if both
 * sides frame it alike.
 *
 *   OPENING --> SENDING --> RELAYING --> done, and the upstream is idle again
 *      |  ^        |           |
 *      |  +-retry--+           +--> broken off: the client's connection too
 *      +--> 502, 503, 504      +--> TUNNEL (101): raw bytes, until both ended
 *
 * A request is tried again only while no byte of a reply has come, if its
 * method may be repeated (RFC 9110 9.2.2) or none of it was sent, all of its
 * body is still in memory, and the budget (retry_budget.h) allows it. If a kept
 * connection turns out to be closed, the request is tried once more under the
 * same conditions.
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

/* Bytes: the longest head of a reply, and what one read of a body may bring. */
enum { PROXY_BUFFER_BYTES_MIN = 32768 };

/* Bytes of bodies in one worker's memory for which no upstream was asked yet.
 * When that many are held, no body waits any more: an upstream is asked at
 * once. */
enum { PROXY_HELD_BYTES_MAX = 16 * 1024 * 1024 };

struct proxy_held {
    size_t bytes;
};

enum proxy_host { PROXY_HOST_KEEP, PROXY_HOST_UPSTREAM };

/* What is done with a request without a valid traceparent. */
enum proxy_trace { PROXY_TRACE_PASS, PROXY_TRACE_MAKE };

/* What is done with "%2F" in a path: it is passed on only where no rule here
 * could read it differently (sites.c), or always. */
enum proxy_slash { PROXY_SLASH_SAFE, PROXY_SLASH_PASS };

/* What BALANCE_HASH hashes. */
enum proxy_hash { PROXY_HASH_ADDRESS, PROXY_HASH_URI, PROXY_HASH_FIELD };

struct proxy_options {
    struct upstream_options upstream;
    struct relay relay; /* all but host, which depends on the server */
    enum proxy_hash hash;
    struct bytes hash_field; /* field name for PROXY_HASH_FIELD */
    size_t buffer_bytes;     /* bytes of each direction's buffer */
    size_t request_bytes;    /* bytes of a body, or all of it, that must have
                                come before an upstream is asked */
    struct proxy_held *held; /* borrowed, shared by the worker's proxies; NULL:
                                not counted */
    enum proxy_slash slash;
    bool splices;           /* through pipes, if there are any */
    bool names_requests;    /* sets X-Request-Id: trace.h */
    bool makes_traceparent; /* makes one if a request has none */
    bool intercepts_errors; /* replaces upstreams' errors by own pages */
    struct pipes *pipes;    /* borrowed; NULL: all is copied */
    uint64_t reply_ms;      /* time from the request's last byte to the head */
    uint64_t idle_ms;       /* longest time without a byte either way */
    uint64_t tunnel_ms;     /* the same in a tunnel */
    const struct server_defaults *defaults; /* borrowed */
};

struct proxy; /* opaque */

/* Allocates only. NULL: no memory. */
MUST_USE struct proxy *proxy_create(const struct proxy_options *options);

/* Starts the pool, on the worker's thread, before the first request. Returns
 * the result of upstream_pool_start(). */
MUST_USE int proxy_start(struct proxy *proxy, const struct upstream_loop *loop);

/* Destroys the proxy, after all exchanges were over. NULL is accepted. */
void proxy_destroy(struct proxy *proxy);

struct handler proxy_handler(struct proxy *proxy);

/* Makes the proxy call hear with the head of each final reply, before it is
 * passed on by relay. To be called once, before the first request. */
void proxy_report(struct proxy *proxy,
                  void (*hear)(void *context, const struct exchange *exchange,
                               const struct reply *reply,
                               const struct relay *relay),
                  void *context);

/* Returns the pool, for probes and statistics. */
struct upstream_pool *proxy_pool(const struct proxy *proxy);

#endif
