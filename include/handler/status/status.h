/*
 * status - serves the statistics over HTTP, for people and programs.
 *
 *   PREFIX              redirects to PREFIX/
 *   PREFIX/             the dashboard, with style.css and script.js
 *   PREFIX/status.json  all statistics
 *   PREFIX/metrics      all statistics, in a format that Prometheus accepts
 *   PREFIX/events       server-sent events: one "tick" each second
 *   PREFIX/health       200 when serving, 503 while draining
 *
 * GET and HEAD are answered for clients on this machine and in allowed
 * networks, if they name this machine as Host (local.h). All others get 403 for
 * everything below PREFIX. Requests that an untrusted proxy passes on get 403,
 * too, even if the proxy is in an allowed network.
 *
 * Each report is made anew. Clients that ask in the same turn get the same
 * text, so that many of them cost little more than one. All event streams of a
 * worker share one text each second; a client that is too slow misses the texts
 * made meanwhile. The number of streams is bounded, in all and for each address
 * (stream_seats.h), so that dashboards cannot use up a worker's connections or
 * its time.
 *
 * Thread: one per worker; the history's lock is the only one.
 * Owns:   its snapshot and texts. Streams and responses hold references to
 *         their texts, and must be gone before the status is destroyed.
 */
#ifndef HANDLER_STATUS_STATUS_H
#define HANDLER_STATUS_STATUS_H

#include "base/cidr.h"
#include "handler/encode.h"
#include "handler/handler.h"
#include "handler/hosts.h"
#include "http/forwarded.h"
#include "observe/history.h"

enum { STATUS_STREAMS_MAX = 256, STATUS_PREFIX_BYTES_MAX = 200 };

/* Who may read the statistics, besides programs on this machine. All is
 * borrowed. */
struct status_audience {
    const struct cidrs *allowed;
    const struct hosts *names; /* names of this machine, besides "localhost" */
    /* The trusted proxies. NULL: no proxy is trusted. */
    const struct forwarded_trust *trust;
};

struct status_options {
    struct status_audience audience;
    const struct stats_shared *stats;
    struct history *history;
    struct server_defaults defaults;
};

struct status; /* opaque */

/* Everything in `options` is borrowed. Returns NULL when there is no memory. */
MUST_USE struct status *status_create(const struct status_options *options);
void status_destroy(struct status *status);

struct handler status_handler(struct status *status);

/* Must be called when a turn begins: texts of the previous turn are old. */
void status_turn(struct status *status);

/* Makes the text of this second, if any stream waits for a text. Returns
 * whether streams must be woken. */
MUST_USE bool status_tick(struct status *status);

/* Sets who may read from now on, and which upstreams and certificates are
 * shown. `upstreams` or `certificates` may be NULL; none are shown then. All is
 * borrowed. */
void status_show(struct status *status, const struct status_audience *audience,
                 const struct stats_upstreams *upstreams,
                 const struct stats_certificates *certificates);

/* From now on, answers are compressed as `encode` says. Borrows its rules. */
void status_encode(struct status *status, const struct encode *encode);

/* From now on, the server is not healthy, and streams end when they are
 * woken. */
void status_drain(struct status *status);

/* Whether `text` is a valid prefix: segments of letters, digits and "-._~",
 * each behind a slash, none of them "." or "..". *prefix_out is `text` without
 * any slash at its end. */
MUST_USE bool status_read_prefix(const char *text, struct bytes *prefix_out);

#endif
