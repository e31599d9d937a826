/*
 * upstream_probe_priv - shared by upstream_probe.c (rounds of probes) and
 * upstream_prober.c (a single probe). upstream_probe.c calls upstream_prober.c.
 */
#ifndef UPSTREAM_UPSTREAM_PROBE_PRIV_H
#define UPSTREAM_UPSTREAM_PROBE_PRIV_H

#include "http/reply.h"
#include "upstream/upstream_probe.h"

/* Probes one server. */
struct upstream_prober {
    struct upstream_probe *probe;
    int server;
    struct resolver_name *name; /* NULL for a unix socket */
    /* the probe's time limit, or time until the next probe */
    ev_timer timer;
    ev_io watcher;
    struct transport transport; /* descriptor -1: no probe is under way */
    struct tls_target *tls;     /* NULL without TLS */
    bool is_shaking;            /* the TLS handshake is under way */
    size_t addresses_tried;
    uint64_t begun_ms;
    /* The probe ends with a call of on_judged (a verdict) or of on_nothing (no
     * verdict). */
    void (*on_judged)(struct upstream_prober *prober, bool is_well,
                      const char *why);
    void (*on_nothing)(struct upstream_prober *prober);
    char *request;
    size_t request_len;
    size_t sent;
    struct http1_progress progress;
    size_t head_at; /* where the final head begins, behind interim heads */
    size_t received;
    char reply[UPSTREAM_PROBE_REPLY_MAX];
};

struct upstream_probe {
    struct upstream_probe_options options;
    const struct upstream_endpoint *endpoints;
    struct balance *balance;
    struct upstream_loop loop; /* loop.loop is NULL before the start */
    size_t count;
    struct upstream_prober probers[];
};

static inline const struct upstream_endpoint *upstream_prober_place(
    const struct upstream_prober *prober)
{
    return &prober->probe->endpoints[prober->server];
}

/* Begins a probe, which ends in on_judged or on_nothing. */
void upstream_prober_ask(struct upstream_prober *prober);
void upstream_prober_on_event(struct ev_loop *loop, ev_io *watcher, int events);

/* Closes the connection, if there is one. */
void upstream_prober_close(struct upstream_prober *prober);

#endif
