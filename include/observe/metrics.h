/*
 * metrics - the statistics for Prometheus: its text format 0.0.4, or
 * OpenMetrics 1.0.
 *
 * Units are seconds and bytes, names of counters end in `_total`, and clients
 * cannot choose a label's value. No number is repeated: a number that is given
 * by size or by worker has no line for the sum.
 *
 * Histograms have fixed bounds from 10 us to 60 s. The server's own buckets are
 * finer. A bucket that contains a bound counts as above the bound. So a line
 * with `le` never counts a value above its bound, but may miss values that are
 * less than 1/64 below the bound. Quantiles that are calculated from these
 * lines may be too high, never too low.
 *
 * Thread: any.
 */
#ifndef OBSERVE_METRICS_H
#define OBSERVE_METRICS_H

#include "base/buf.h"
#include "observe/stats_snapshot.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPENMETRICS };

/* The most memory that `out` needs: with 1,024 workers, 256 upstreams, and all
 * numbers and names of full length. */
enum { METRICS_BYTES_MAX = 6 * 1024 * 1024 };

/* Returns the format's value of the field Content-Type. */
const char *metrics_media_type(enum metrics_format format);

void metrics_put(struct buf *out, const struct stats_snapshot *snapshot,
                 enum metrics_format format);

#endif
