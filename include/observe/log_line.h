/*
 * log_line - writes an event of a connection as a line of the access log.
 *
 * Texts from clients are escaped, so that no text can end or forge a line. Long
 * texts are cut, so that no line is longer than LOG_LINE_BYTES_MAX. Dates are
 * formatted only when the second changes. No clock is read.
 *
 * Thread: a struct log_dates belongs to one thread.
 */
#ifndef OBSERVE_LOG_LINE_H
#define OBSERVE_LOG_LINE_H

#include "base/buf.h"
#include "base/now.h"
#include "observe/log_format.h"

struct log_dates {
    int64_t second;
    unsigned ms;
    char common[27]; /* "21/Nov/2026:10:04:00 +0000" */
    char iso[20];    /* "2026-11-21T10:04:00" */
};

void log_dates_init(struct log_dates *dates);
void log_dates_refresh(struct log_dates *dates, const struct now *now);

/* Appends the line of an event. Returns false, without appending anything, if
 * the line might not fit into the memory allocated to `out`. LOG_LINE_BYTES_MAX
 * bytes always suffice. */
MUST_USE bool log_line_put(struct buf *out, const struct log_format *format,
                           const struct log_dates *dates, unsigned worker,
                           const struct log_entry *entry);

#endif
