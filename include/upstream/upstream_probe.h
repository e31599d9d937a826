/*
 * upstream_probe - asks each server regularly whether it is well.
 *
 *   WAITING --due--> under way: connect, TLS if it has tls_name,
 *      ^             GET, the reply's head ----------------------> judged
 *      ^                |   ^                                         |
 *      |                +---+ next address                            |
 *      +--------------------------------------------------------------+
 *
 * A server is probed every interval_ms, give or take a random tenth, over a new
 * connection that is closed after the head of the reply. The whole probe may
 * take timeout_ms; a server's next probe begins only after the last has ended.
 * A server is well when the reply's status is from status_min to status_max.
 * The balance decides whether the server is up (`rise`, `fall`).
 *
 * A probe that fails on our side (no descriptors, ports or memory, or a name
 * not looked up yet) does not count, since it says nothing about the server.
 *
 * Thread: the thread whose loop the probe was started on; any thread may call
 *         upstream_probe_create(). One probe serves all workers, which share
 *         the results.
 * Owns:   the connections, names and timers.
 */
#ifndef UPSTREAM_UPSTREAM_PROBE_H
#define UPSTREAM_UPSTREAM_PROBE_H

#include "upstream/upstream.h"

enum {
    UPSTREAM_PROBE_PATH_MAX = 1024,
    UPSTREAM_PROBE_REPLY_MAX = 8192 /* bytes of interim heads and final head */
};

struct upstream_probe_options {
    /* The path to ask for, which may have a query. See
     * upstream_probe_takes_path(). */
    struct bytes path;
    struct bytes host; /* value of Host; empty: each server's own authority */
    uint64_t interval_ms; /* at least 1, like timeout_ms */
    uint64_t timeout_ms;
    unsigned status_min, status_max;
};

struct upstream_probe; /* opaque */

/* Whether probes can ask for `path`. It must begin with "/", consist of
 * printable ASCII without space and '#', and have at most
 * UPSTREAM_PROBE_PATH_MAX bytes. */
bool upstream_probe_takes_path(struct bytes path);

/* Creates a probe of `count` endpoints, which are the servers of `balance`.
 * Options are copied; all other objects are borrowed. `tls` may be NULL if no
 * server speaks TLS. Returns NULL if there is no memory. */
MUST_USE struct upstream_probe *upstream_probe_create(
    const struct upstream_probe_options *options,
    const struct upstream_endpoint *endpoints, size_t count,
    struct balance *balance, struct tls_connector *tls);

/* Begins to probe. Returns 0, or -errno if a name is impossible or there is no
 * memory. */
MUST_USE int upstream_probe_start(struct upstream_probe *probe,
                                  const struct upstream_loop *loop);

/* Destroys the probe, whose resolver and balance must still exist. NULL is
 * accepted. */
void upstream_probe_destroy(struct upstream_probe *probe);

#endif
