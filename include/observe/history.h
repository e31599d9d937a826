/*
 * history - the statistics of the last five minutes: one point for each second.
 *
 * A point is the difference of two snapshots, so the percentiles of a point are
 * of that second alone.
 *
 * Thread: one thread calls history_note(), any thread history_read(). A mutex
 *         guards the points, and is held only while points are copied. No
 *         worker writes points.
 * Owns:   the points, and some numbers of the last snapshot.
 */
#ifndef OBSERVE_HISTORY_H
#define OBSERVE_HISTORY_H

#include "observe/stats_snapshot.h"

enum { HISTORY_POINTS_MAX = 300, HISTORY_INTERVAL_S = 1 };

struct history_point {
    int64_t wall_ns;
    uint64_t requests;
    uint64_t bytes_out;
    uint64_t total_p50_ns; /* all times are 0 without requests */
    uint64_t total_p90_ns;
    uint64_t total_p99_ns;
    uint64_t wait_p99_ns;
    double hit_ratio;     /* share of cache hits; NAN without lookups */
    uint64_t queue_depth; /* responses in the queue at wall_ns */
    uint64_t open;        /* open connections at wall_ns */
};

struct history; /* opaque */

/* Returns NULL if there is no memory. */
MUST_USE struct history *history_create(void);
void history_destroy(struct history *history);

/* Adds a point for the time from the previous snapshot to this snapshot; the
 * first point begins at the server's start. To be called every
 * HISTORY_INTERVAL_S. */
void history_note(struct history *history,
                  const struct stats_snapshot *snapshot);

/* Adds a point for a time in which nothing has happened (see struct
 * stats_pulse), as if the snapshot had not changed. */
void history_note_nothing(struct history *history, int64_t wall_ns);

/* Copies the newest points, at most `max` points, in order of time. Returns how
 * many points were copied. */
size_t history_read(struct history *history, struct history_point *points,
                    size_t max);

#endif
