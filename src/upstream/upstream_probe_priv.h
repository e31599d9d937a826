/*
 * upstream_probe_priv - what the rounds of probes (upstream_probe.c) and a
 * single one under way (upstream_prober.c), which they call, share.
 */
#ifndef UPSTREAM_UPSTREAM_PROBE_PRIV_H
#define UPSTREAM_UPSTREAM_PROBE_PRIV_H

#include "http/reply.h"
#include "upstream/upstream_probe.h"

/* The prober of one server. */
struct upstream_prober {
    struct upstream_probe *probe;
    int server;
    struct resolver_name *name; /* NULL: a unix socket */
    ev_timer timer;             /* under way: its limit; else: when it is due */
    ev_io watcher;
    struct transport transport; /* its descriptor is -1: not under way */
    struct tls_target *tls;     /* NULL: it is asked in clear text */
    bool is_shaking;            /* TLS comes first */
    size_t addresses_tried;
    uint64_t begun_ms;
    /* The probe is over: with what it found, or without having found
     * anything. */
    void (*on_judged)(struct upstream_prober *prober, bool is_well,
                      const char *why);
    void (*on_nothing)(struct upstream_prober *prober);
    char *request;
    size_t request_len;
    size_t sent;
    struct http1_progress progress;
    size_t head_at; /* behind interim heads */
    size_t received;
    char reply[UPSTREAM_PROBE_REPLY_MAX];
};

struct upstream_probe {
    struct upstream_probe_options options;
    const struct upstream_endpoint *endpoints;
    struct balance *balance;
    struct upstream_loop loop; /* its loop is NULL before the start */
    size_t count;
    struct upstream_prober probers[];
};

static inline const struct upstream_endpoint *upstream_prober_place(
    const struct upstream_prober *prober)
{
    return &prober->probe->endpoints[prober->server];
}

/* Connects and asks; ends in on_judged or on_nothing. */
void upstream_prober_ask(struct upstream_prober *prober);
void upstream_prober_on_event(struct ev_loop *loop, ev_io *watcher, int events);

/* Closes what is open. */
void upstream_prober_close(struct upstream_prober *prober);

#endif
