/*
 * log_sink - the destination of lines: a file that is appended to, a FIFO,
 * standard output, or a syslog daemon.
 *
 *   FILE          made (0640) if it is missing
 *   -             standard output, which stays open, as /dev/stdout;
 *                 /dev/stderr is standard error
 *   syslog:       the daemon at /dev/log
 *   syslog:/PATH  one that listens elsewhere
 *
 * Each syslog line is a datagram in the format of RFC 3164 without a host,
 * facility local0, severity info. When the daemon is gone, each write tries to
 * connect to it again.
 *
 * On a full disk, a write fails: LOG_SINK_FAILED with ENOSPC (or EDQUOT).
 * log_writer.h decides what happens to the lines.
 *
 * Thread: the thread that opens it, then the writing thread.
 * Owns:   the descriptor, unless it is a standard one.
 */
#ifndef OBSERVE_LOG_SINK_H
#define OBSERVE_LOG_SINK_H

#include <stdint.h>

#include "base/bytes.h"

enum log_sink_result {
    LOG_SINK_DONE,  /* all lines were written */
    LOG_SINK_AGAIN, /* the pipe or socket is full: wait until fd is writable */
    LOG_SINK_FAILED /* errno says why */
};

enum { LOG_SINK_PREFIX_MAX = 48 };

struct log_sink {
    int fd;           /* -1: not open, or the daemon is gone */
    const char *path; /* borrowed; NULL: a standard descriptor */
    bool is_syslog;
    bool may_block;         /* writes may block: fd is shared with others */
    uint64_t refused_lines; /* lines too long for a datagram */
    int64_t dated_s;
    char prefix[LOG_SINK_PREFIX_MAX]; /* "<134>Nov 21 10:04:00 sprintd[1]: " */
};

/* Whether where is the path of a file. */
bool log_sink_is_file(const char *where);

/* where must outlive the sink. 0 or -errno; -ENXIO: a FIFO without a reader. An
 * incomplete line at the end of a file, which a killed server left, is ended. */
MUST_USE int log_sink_open(struct log_sink *sink, const char *where);
void log_sink_close(struct log_sink *sink);

/* Writes as much of whole lines as possible without waiting. *taken_out: bytes
 * written, also by a failed write; the next call continues behind them. */
enum log_sink_result log_sink_write(struct log_sink *sink, struct bytes lines,
                                    size_t *taken_out);

/* Opens the sink anew, since the old file was renamed. torn: the bytes of an
 * incomplete line written so far. If *is_other_out is set, that line must be
 * written again from its beginning; it was removed from the old file. Returns
 * 0, or -errno: the old file stays in use. */
MUST_USE int log_sink_reopen(struct log_sink *sink, size_t torn,
                             bool *is_other_out);

/* Removes the torn bytes written of an incomplete line, if possible. */
void log_sink_cut(struct log_sink *sink, size_t torn);

#endif
