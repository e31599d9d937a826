/*
 * stats_upstreams - the numbers of the upstream servers.
 *
 * A report reads the rows one by one from the proxies, which keep the numbers.
 * Nothing is copied earlier, because a reload replaces the proxies.
 *
 * Thread: the threads that may call the function `read`.
 * Owns:   nothing; whoever makes the list decides how long it lives.
 */
#ifndef OBSERVE_STATS_UPSTREAMS_H
#define OBSERVE_STATS_UPSTREAMS_H

#include <stddef.h>
#include <stdint.h>

enum stats_upstream_state {
    STATS_UPSTREAM_UP,
    STATS_UPSTREAM_SLOW,    /* came back a short time ago (slow start) */
    STATS_UPSTREAM_EJECTED, /* failed too often, left out for a while */
    STATS_UPSTREAM_DOWN,    /* probes found it down */
    STATS_UPSTREAM_STATE_COUNT
};

/* Returns a name like "up" or "ejected". */
const char *stats_upstream_state_name(enum stats_upstream_state state);

/* The numbers of one server of one proxy. `proxy` and `server` become labels:
 * each pair is unique, and its two texts have at most 512 bytes together. */
struct stats_upstream {
    const char *proxy;  /* the proxy's prefix, like "/app" */
    const char *server; /* "app.example:9000" */
    enum stats_upstream_state state;
    uint64_t up;     /* 1 if requests go to this server, else 0 */
    uint64_t active; /* exchanges under way */
    uint64_t idle;   /* idle connections */
    uint64_t requests;
    uint64_t failures;
    uint64_t retries; /* requests retried after this server failed */
    uint64_t connects;
    uint64_t reuses;
    uint64_t bytes_in; /* bytes received from the server */
    uint64_t bytes_out;
    uint64_t handshakes; /* TLS handshakes completed */
    uint64_t resumed;    /* handshakes completed with a resumed session */
    uint64_t handshakes_failed;
};

struct stats_upstreams {
    size_t count;
    /* Reads one row; `number` must be below `count`. */
    void (*read)(const void *context, size_t number, uint64_t mono_ms,
                 struct stats_upstream *row_out);
    const void *context;
};

#endif
