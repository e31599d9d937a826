/*
 * report - the Server Statistic Report: the statistics as a table of plain
 * text, at most 80 columns wide, for the end of a run and on demand.
 *
 * Thread: any.
 */
#ifndef OBSERVE_REPORT_H
#define OBSERVE_REPORT_H

#include "base/buf.h"
#include "observe/stats_snapshot.h"

/* The most memory that `out` needs. */
enum { REPORT_BYTES_MAX = 64 * 1024 };

/* Puts the report into `out`, as whole lines. Parts without any numbers are
 * omitted. */
void report_put(struct buf *out, const struct stats_snapshot *snapshot);

#endif
