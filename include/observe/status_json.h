/*
 * status_json - the statistics as JSON (RFC 8259), for programs and for the
 * dashboard.
 *
 * Times are microseconds with a fraction, shares go from 0 to 1, and moments
 * are seconds since the epoch. Numbers that were not counted are 0. Texts from
 * clients are escaped. The JSON is one line without a line end, so that a
 * server-sent event can contain it.
 *
 * Thread: any.
 */
#ifndef OBSERVE_STATUS_JSON_H
#define OBSERVE_STATUS_JSON_H

#include "base/buf.h"
#include "observe/history.h"

/* The most memory that `out` needs: with 300 points, 1,024 workers, 256
 * upstreams, and all numbers and names of full length. */
enum { STATUS_JSON_BYTES_MAX = 2 * 1024 * 1024 };

/* Puts all statistics, with the history. */
void status_json_put(struct buf *out, const struct stats_snapshot *snapshot,
                     struct history *history);

/* Puts the JSON that is sent every second. Instead of "history", this JSON has
 * "point": the newest point of the history, or null. */
void status_json_put_tick(struct buf *out,
                          const struct stats_snapshot *snapshot,
                          struct history *history);

#endif
