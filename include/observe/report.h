/*
 * report - the Server Statistic Report: the statistics as a table of plain
 * text, 80 columns wide at most, for the end of a run and for whoever asks.
 *
 * Thread: any.
 */
#ifndef OBSERVE_REPORT_H
#define OBSERVE_REPORT_H

#include "base/buf.h"
#include "observe/stats_snapshot.h"

/* How long a report can become, for the ceiling of out. */
enum { REPORT_BYTES_MAX = 64 * 1024 };

/* Whole lines. Parts with nothing to tell are left out. */
void report_put(struct buf *out, const struct stats_snapshot *snapshot);

#endif
