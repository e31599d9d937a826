/*
 * status_json - the statistics as JSON (RFC 8259), for programs and for the
 * dashboard.
 *
 * Times are microseconds with a fraction, shares go from 0 to 1, and a moment
 * is seconds since the epoch. What was not counted is 0. Texts that came from
 * clients are escaped. It is one line without its end, so that it fits into a
 * server-sent event as it is.
 *
 * Thread: any.
 */
#ifndef OBSERVE_STATUS_JSON_H
#define OBSERVE_STATUS_JSON_H

#include "base/buf.h"
#include "observe/history.h"

/* How long the JSON can become, for the ceiling of out: 300 points, 1,024
 * workers and 256 upstreams with no number or name short. */
enum { STATUS_JSON_BYTES_MAX = 2 * 1024 * 1024 };

/* All of it. */
void status_json_put(struct buf *out, const struct stats_snapshot *snapshot,
                     struct history *history);

/* Puts the same with "point", the newest of the history (null before there is
 * one), in the place of "history": for every second. */
void status_json_put_tick(struct buf *out,
                          const struct stats_snapshot *snapshot,
                          struct history *history);

#endif
