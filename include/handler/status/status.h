/*
 * status - the statistics over HTTP, for people, programs and watchers.
 *
 *   PREFIX              to PREFIX/
 *   PREFIX/             the dashboard, with style.css and script.js
 *   PREFIX/status.json  all statistics
 *   PREFIX/metrics      the same for Prometheus, as its Accept has it
 *   PREFIX/events       a "tick" of server-sent events each second
 *   PREFIX/health       200 when serving, 503 while draining
 *
 * By GET and HEAD, for clients on this machine and those in blocks that are
 * allowed, by a name of this machine (local.h): everybody else gets 403 for
 * whatever is below PREFIX.
 *
 * A report is as fresh as can be. Clients that ask in the same turn get the
 * same text, so that many of them cost little more than one. Of events one text
 * is made a second for all of a worker's streams, and shared by them; a client
 * that is too slow misses those that were made meanwhile. Their number is
 * bounded, so that dashboards cannot use up a worker's connections or its time,
 * and so is an address's share of it (stream_seats.h).
 *
 * Thread: one per worker; no locks but that of the history.
 * Owns:   its snapshot and texts. Streams and responses hold a reference to
 *         what they send, and must be gone before their status.
 */
#ifndef HANDLER_STATUS_STATUS_H
#define HANDLER_STATUS_STATUS_H

#include "base/cidr.h"
#include "handler/encode.h"
#include "handler/handler.h"
#include "handler/hosts.h"
#include "observe/history.h"

enum { STATUS_STREAMS_MAX = 256, STATUS_PREFIX_BYTES_MAX = 200 };

/* Who may look, besides programs on this machine; borrowed. */
struct status_audience {
    const struct cidrs *allowed;
    const struct hosts *names; /* of this machine, besides "localhost" */
};

struct status_options {
    struct status_audience audience;
    const struct stats_shared *stats;
    struct history *history;
    struct server_defaults defaults;
};

struct status; /* opaque */

/* Everything in options is borrowed. NULL: no memory. */
MUST_USE struct status *status_create(const struct status_options *options);
void status_destroy(struct status *status);

struct handler status_handler(struct status *status);

/* A turn begins: what was made in the one before is old. */
void status_turn(struct status *status);

/* Makes the text of this second, if anybody waits for it. Whether streams are
 * to be woken for it. */
MUST_USE bool status_tick(struct status *status);

/* From now on, those and no others may look, and these upstreams and
 * certificates are told of (NULL: there are none). Borrowed. */
void status_show(struct status *status, const struct status_audience *audience,
                 const struct stats_upstreams *upstreams,
                 const struct stats_certificates *certificates);

/* From now on, answers are compressed so; its rules are borrowed. */
void status_encode(struct status *status, const struct encode *encode);

/* From now on the server is not healthy, and streams end when they are
 * woken. */
void status_drain(struct status *status);

/* Whether text may be a prefix: segments of letters, digits, "-._~", none of
 * them "." or "..", behind a slash each. *prefix_out is without the slash
 * that may stand at the end. */
MUST_USE bool status_read_prefix(const char *text, struct bytes *prefix_out);

#endif
