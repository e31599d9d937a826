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
 * same time, each through a buffer of buffer_bytes. A slow side makes the other
 * side wait, and memory does not grow. An upstream is asked only when
 * request_bytes of a body, or all of the body, have come. So a slow client does
 * not occupy an upstream. No upstream is asked before `answer` was called: the
 * body may come while the client's password is being checked. A short body that
 * came in one read is sent together with its head, from the buffer it was read
 * into. The rest of a long body goes through a pipe (splice(2)), if both sides
 * frame it alike.
 *
 *   OPENING --> SENDING --> RELAYING --> done; the upstream is idle again
 *      |  ^        |           |
 *      |  +-retry--+           +--> broken off, with the client's connection
 *      +--> 502, 503, 504      +--> TUNNEL (101): raw bytes, until both ended
 *
 * A request is tried again only if all of these hold: no byte of a reply has
 * come; its method may be repeated (RFC 9110 9.2.2) or none of the request was
 * sent; all of its body is still in memory; the budget (retry_budget.h) allows
 * it. If a kept connection turns out to be closed, the request is tried once
 * more under the same conditions.
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

/* The smallest buffer_bytes: the longest permitted head of a reply fits in. */
enum { PROXY_BUFFER_BYTES_MIN = 32768 };

/* When a worker holds this many bytes of bodies whose upstreams were not asked,
 * it asks the upstreams at once, without waiting for more of the bodies. */
enum { PROXY_HELD_BYTES_MAX = 16 * 1024 * 1024 };

struct proxy_held {
    size_t bytes;
};

enum proxy_host { PROXY_HOST_KEEP, PROXY_HOST_UPSTREAM };

/* What is done with a request without a valid traceparent. */
enum proxy_trace { PROXY_TRACE_PASS, PROXY_TRACE_MAKE };

/* What is done with "%2F" in a path. PROXY_SLASH_SAFE passes the path on only
 * if the same rules apply to it, whether "%2F" counts as a slash or not
 * (sites.c). PROXY_SLASH_PASS always passes it on. */
enum proxy_slash { PROXY_SLASH_SAFE, PROXY_SLASH_PASS };

/* What BALANCE_HASH hashes. */
enum proxy_hash { PROXY_HASH_ADDRESS, PROXY_HASH_URI, PROXY_HASH_FIELD };

struct proxy_options {
    struct upstream_options upstream;
    struct relay relay; /* how messages are passed on; `host` is set later, for
                           each server */
    enum proxy_hash hash;
    struct bytes hash_field; /* field name for PROXY_HASH_FIELD */
    size_t buffer_bytes;     /* bytes of each direction's buffer */
    size_t request_bytes;    /* an upstream is asked when so many bytes of
                                a body, or all of it, have come */
    struct proxy_held *held; /* borrowed, shared by the worker's proxies; NULL:
                                held bytes are not counted */
    enum proxy_slash slash;
    bool splices;           /* uses pipes, if there are any */
    bool names_requests;    /* sets X-Request-Id: trace.h */
    bool makes_traceparent; /* makes a traceparent if a request has none */
    bool intercepts_errors; /* replaces upstreams' errors by own pages */
    struct pipes *pipes;    /* borrowed; NULL: all is copied */
    /* Time from the request's last byte to the reply's head. */
    uint64_t reply_ms;
    uint64_t idle_ms;   /* longest time without a byte in either direction */
    uint64_t tunnel_ms; /* longest time without a byte in a tunnel */
    const struct server_defaults *defaults; /* borrowed */
};

struct proxy; /* opaque */

/* Only allocates. Returns NULL when there is no memory. */
MUST_USE struct proxy *proxy_create(const struct proxy_options *options);

/* Starts the pool of servers. Must be called on the worker's thread, before the
 * first request. Returns the result of upstream_pool_start(). */
MUST_USE int proxy_start(struct proxy *proxy, const struct upstream_loop *loop);

/* Destroys the proxy, after all exchanges were over. NULL is accepted. */
void proxy_destroy(struct proxy *proxy);

struct handler proxy_handler(struct proxy *proxy);

/* Makes the proxy call `hear` with the head of each final reply, before the
 * reply is passed on as `relay` says. Must be called once, before the first
 * request. */
void proxy_report(struct proxy *proxy,
                  void (*hear)(void *context, const struct exchange *exchange,
                               const struct reply *reply,
                               const struct relay *relay),
                  void *context);

/* Returns the pool, for probes and statistics. */
struct upstream_pool *proxy_pool(const struct proxy *proxy);

#endif
