/*
 * history - how things went in the last five minutes: a point a second.
 *
 * A point says what happened since the point before, from the difference of
 * two snapshots: its percentiles are those of that second alone.
 *
 * Thread: history_note() one thread's; history_read() any. A mutex guards the
 *         points: no worker writes them, and both sides hold it only while
 *         they copy.
 * Owns:   points, and what it needs of the snapshot before.
 */
#ifndef OBSERVE_HISTORY_H
#define OBSERVE_HISTORY_H

#include "observe/stats_snapshot.h"

enum { HISTORY_POINTS_MAX = 300, HISTORY_INTERVAL_S = 1 };

struct history_point {
    int64_t wall_ns;
    uint64_t requests;
    uint64_t bytes_out;
    uint64_t total_p50_ns; /* 0, like the others: there was no request */
    uint64_t total_p90_ns;
    uint64_t total_p99_ns;
    uint64_t wait_p99_ns;
    double hit_ratio;     /* of the cache; NAN: it was not asked */
    uint64_t queue_depth; /* at that moment */
    uint64_t open;        /* connections, at that moment */
};

struct history; /* opaque */

/* NULL: no memory. */
MUST_USE struct history *history_create(void);
void history_destroy(struct history *history);

/* Adds the point that leads from the snapshot before, or from the server's
 * start, to this one. Every HISTORY_INTERVAL_S. */
void history_note(struct history *history,
                  const struct stats_snapshot *snapshot);

/* Adds the point of a time in which nothing has happened (struct stats_pulse),
 * as from a snapshot in which all is as it was. */
void history_note_nothing(struct history *history, int64_t wall_ns);

/* Copies the newest max points or fewer, oldest first; returns how many. */
size_t history_read(struct history *history, struct history_point *points,
                    size_t max);

#endif
