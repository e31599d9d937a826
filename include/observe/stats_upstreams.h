/*
 * stats_upstreams - what is told of the servers behind this one.
 *
 * A list that is read row by row while a report is written: the numbers lie
 * with those who count, which are not the same before and after a reload.
 *
 * Thread: any, as read has it.
 * Owns:   nothing; whoever made the list says how long it lives.
 */
#ifndef OBSERVE_STATS_UPSTREAMS_H
#define OBSERVE_STATS_UPSTREAMS_H

#include <stddef.h>
#include <stdint.h>

enum stats_upstream_state {
    STATS_UPSTREAM_UP,
    STATS_UPSTREAM_SLOW,    /* it has just come back */
    STATS_UPSTREAM_EJECTED, /* it has failed too often, and rests */
    STATS_UPSTREAM_DOWN,    /* as probes say */
    STATS_UPSTREAM_STATE_COUNT
};

/* "up", "ejected". */
const char *stats_upstream_state_name(enum stats_upstream_state state);

/* The numbers of one server of one proxy. The texts are labels: no two rows
 * have the same, and both have at most 512 bytes together. */
struct stats_upstream {
    const char *proxy;  /* its prefix: "/app" */
    const char *server; /* "app.example:9000" */
    enum stats_upstream_state state;
    uint64_t up;     /* whether requests go there: 1, or 0 */
    uint64_t active; /* exchanges under way */
    uint64_t idle;   /* connections */
    uint64_t requests;
    uint64_t failures;
    uint64_t retries; /* requests begun anew after it */
    uint64_t connects;
    uint64_t reuses;
    uint64_t bytes_in; /* from it */
    uint64_t bytes_out;
    uint64_t handshakes; /* of TLS, that were done */
    uint64_t resumed;    /* of these */
    uint64_t handshakes_failed;
};

struct stats_upstreams {
    size_t count;
    /* number is below count. */
    void (*read)(const void *context, size_t number, uint64_t mono_ms,
                 struct stats_upstream *row_out);
    const void *context;
};

#endif
