/*
 * history - the statistics of the last five minutes: one point for each second.
 *
 * A point is the difference of two snapshots: its percentiles are those of that
 * second alone.
 *
 * Thread: one calls history_note(), any history_read(). A mutex guards the
 *         points, held only while they are copied; no worker writes them.
 * Owns:   the points, and the numbers it needs of the last snapshot.
 */
#ifndef OBSERVE_HISTORY_H
#define OBSERVE_HISTORY_H

#include "observe/stats_snapshot.h"

enum { HISTORY_POINTS_MAX = 300, HISTORY_INTERVAL_S = 1 };

struct history_point {
    int64_t wall_ns;
    uint64_t requests;
    uint64_t bytes_out;
    uint64_t total_p50_ns; /* this and the others: 0 without requests */
    uint64_t total_p90_ns;
    uint64_t total_p99_ns;
    uint64_t wait_p99_ns;
    double hit_ratio;     /* share of hits in the cache; NAN: no lookups */
    uint64_t queue_depth; /* depth at that moment */
    uint64_t open;        /* connections, at that moment */
};

struct history; /* opaque */

/* NULL: no memory. */
MUST_USE struct history *history_create(void);
void history_destroy(struct history *history);

/* Adds the point between the last snapshot (or the server's start) and this
 * one. To be called every HISTORY_INTERVAL_S. */
void history_note(struct history *history,
                  const struct stats_snapshot *snapshot);

/* Adds the point of a time in which nothing has happened (struct stats_pulse),
 * as if from an unchanged snapshot. */
void history_note_nothing(struct history *history, int64_t wall_ns);

/* Copies the newest points, at most max, oldest first. Returns how many. */
size_t history_read(struct history *history, struct history_point *points,
                    size_t max);

#endif
