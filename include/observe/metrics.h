/*
 * metrics - the statistics for Prometheus: its text format 0.0.4, or
 * OpenMetrics 1.0.
 *
 * Base units only (seconds, bytes), `_total` at the end of counters, and no
 * label whose values a client could choose. Nothing is told twice: what is
 * there by size or by worker has no line of its own for the sum.
 *
 * Histograms have fixed bounds from 10 us to 60 s. Those are not bounds of our
 * buckets, which are finer; the bucket that a bound cuts is counted above it.
 * So `le` never counts a value above its bound, may miss values less than 1/64
 * below it, and a quantile calculated from it errs to the slow side.
 *
 * Thread: any.
 */
#ifndef OBSERVE_METRICS_H
#define OBSERVE_METRICS_H

#include "base/buf.h"
#include "observe/stats_snapshot.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

/* How long the metrics can become, for the ceiling of out: 1,024 workers and
 * 256 upstreams with no number or name short. */
enum { METRICS_BYTES_MAX = 6 * 1024 * 1024 };

/* The value of Content-Type. */
const char *metrics_media_type(enum metrics_format format);

void metrics_put(struct buf *out, const struct stats_snapshot *snapshot,
                 enum metrics_format format);

#endif
