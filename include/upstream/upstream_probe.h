/*
 * upstream_probe - asks each server now and then whether it is well.
 *
 *   WAITING --due--> under way: connect, TLS if it is told so,
 *      ^             GET, the reply's head ----------------------> judged
 *      ^                |   ^                                         |
 *      |                +---+ next address                            |
 *      +--------------------------------------------------------------+
 *
 * Every interval_ms, a tenth more or less by chance, over a connection of its
 * own, which is closed after the head of the reply. It has timeout_ms for all
 * of that, and the next one does not begin before. A server is well when its
 * status is from status_min to status_max; the balance makes of it who is up
 * (rise, fall).
 *
 * What is wrong on this side (no descriptors, ports or memory, a name still
 * looked up) says nothing of the server: such a probe does not count.
 *
 * Thread: that of the balance, on whose loop it runs. One is enough for all
 *         workers: what it finds is in what they share. upstream_probe_create()
 *         any.
 * Owns:   its connections, names and timers.
 */
#ifndef UPSTREAM_UPSTREAM_PROBE_H
#define UPSTREAM_UPSTREAM_PROBE_H

#include "upstream/upstream.h"

enum {
    UPSTREAM_PROBE_PATH_MAX = 1024,
    UPSTREAM_PROBE_REPLY_MAX = 8192 /* the head, interim ones before it too */
};

struct upstream_probe_options {
    /* With a query, perhaps; see upstream_probe_takes_path(). */
    struct bytes path;
    struct bytes host;    /* for Host; empty: what each server is called */
    uint64_t interval_ms; /* at least 1, as the next */
    uint64_t timeout_ms;
    unsigned status_min, status_max;
};

struct upstream_probe; /* opaque */

/* Whether path can be asked for: from its '/' on printable ASCII without space
 * or '#', at most UPSTREAM_PROBE_PATH_MAX. */
bool upstream_probe_takes_path(struct bytes path);

/* Probes count endpoints, the servers of balance; both are borrowed, options
 * are copied. tls: as in struct upstream_options. NULL: no memory. */
MUST_USE struct upstream_probe *upstream_probe_create(
    const struct upstream_probe_options *options,
    const struct upstream_endpoint *endpoints, size_t count,
    struct balance *balance, struct tls_connector *tls);

/* 0 or -errno: a name that cannot be one, no memory. */
MUST_USE int upstream_probe_start(struct upstream_probe *probe,
                                  const struct upstream_loop *loop);

/* Goes before the resolver and the balance do. NULL is accepted. */
void upstream_probe_destroy(struct upstream_probe *probe);

#endif
