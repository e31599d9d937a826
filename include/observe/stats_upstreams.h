/*
 * stats_upstreams - the numbers of the servers behind this one.
 *
 * A list that is read row by row while a report is written: the numbers stay
 * with the proxies that count, which a reload replaces.
 *
 * Thread: those from which read may be called.
 * Owns:   nothing; the list's maker says how long it lives.
 */
#ifndef OBSERVE_STATS_UPSTREAMS_H
#define OBSERVE_STATS_UPSTREAMS_H

#include <stddef.h>
#include <stdint.h>

enum stats_upstream_state {
    STATS_UPSTREAM_UP,
    STATS_UPSTREAM_SLOW,    /* came back a short while ago */
    STATS_UPSTREAM_EJECTED, /* failed too often, left out for a while */
    STATS_UPSTREAM_DOWN,    /* probes found it down */
    STATS_UPSTREAM_STATE_COUNT
};

/* Returns "up", "ejected" and such. */
const char *stats_upstream_state_name(enum stats_upstream_state state);

/* The numbers of one server of one proxy. The two texts are labels: unique as a
 * pair, and at most 512 bytes together. */
struct stats_upstream {
    const char *proxy;  /* its prefix: "/app" */
    const char *server; /* "app.example:9000" */
    enum stats_upstream_state state;
    uint64_t up;     /* 1 if requests go there, else 0 */
    uint64_t active; /* exchanges under way */
    uint64_t idle;   /* idle connections */
    uint64_t requests;
    uint64_t failures;
    uint64_t retries; /* requests tried again after this server */
    uint64_t connects;
    uint64_t reuses;
    uint64_t bytes_in; /* received from it */
    uint64_t bytes_out;
    uint64_t handshakes; /* TLS handshakes completed */
    uint64_t resumed;    /* of these, resumed sessions */
    uint64_t handshakes_failed;
};

struct stats_upstreams {
    size_t count;
    /* number must be below count. */
    void (*read)(const void *context, size_t number, uint64_t mono_ms,
                 struct stats_upstream *row_out);
    const void *context;
};

#endif
