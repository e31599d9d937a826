/*
 * upstream_probe - asks each server regularly whether it is well.
 *
 *   WAITING --due--> under way: connect, TLS if it is told so,
 *      ^             GET, the reply's head ----------------------> judged
 *      ^                |   ^                                         |
 *      |                +---+ next address                            |
 *      +--------------------------------------------------------------+
 *
 * A server is probed every interval_ms, give or take a random tenth, over a new
 * connection that is closed after the head of the reply. A probe has timeout_ms
 * for all of that, and the next begins only after it. A server is well when its
 * status is from status_min to status_max; the balance decides who is up (rise,
 * fall).
 *
 * A probe that fails on this side (no descriptors, ports or memory, a name not
 * looked up yet) does not count: it says nothing about the server.
 *
 * Thread: the thread whose loop it was started on; any may call
 *         upstream_probe_create(). One probe serves all workers, which share
 *         its results.
 * Owns:   its connections, names and timers.
 */
#ifndef UPSTREAM_UPSTREAM_PROBE_H
#define UPSTREAM_UPSTREAM_PROBE_H

#include "upstream/upstream.h"

enum {
    UPSTREAM_PROBE_PATH_MAX = 1024,
    UPSTREAM_PROBE_REPLY_MAX = 8192 /* bytes of all heads, interim ones too */
};

struct upstream_probe_options {
    /* May have a query; see upstream_probe_takes_path(). */
    struct bytes path;
    struct bytes host;    /* value of Host; empty: each server's own name */
    uint64_t interval_ms; /* this and the next: at least 1 */
    uint64_t timeout_ms;
    unsigned status_min, status_max;
};

struct upstream_probe; /* opaque */

/* Whether probes can ask for path: "/" and printable ASCII without space or
 * '#', at most UPSTREAM_PROBE_PATH_MAX bytes. */
bool upstream_probe_takes_path(struct bytes path);

/* Probes count endpoints, which are the servers of balance; both are borrowed,
 * options are copied. tls: as in struct upstream_options. NULL: no memory. */
MUST_USE struct upstream_probe *upstream_probe_create(
    const struct upstream_probe_options *options,
    const struct upstream_endpoint *endpoints, size_t count,
    struct balance *balance, struct tls_connector *tls);

/* Returns 0 or -errno: an impossible name, or no memory. */
MUST_USE int upstream_probe_start(struct upstream_probe *probe,
                                  const struct upstream_loop *loop);

/* Must be destroyed before the resolver and the balance. NULL is accepted. */
void upstream_probe_destroy(struct upstream_probe *probe);

#endif
