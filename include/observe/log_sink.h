/*
 * log_sink - where lines end up: a file that is appended to, a FIFO, standard
 * output, or a syslog daemon.
 *
 *   FILE          made (0640) when it is not there
 *   -             standard output, which stays open; /dev/stdout is the same,
 *                 and so is /dev/stderr for the other one
 *   syslog:       the daemon at /dev/log
 *   syslog:/PATH  one that listens elsewhere
 *
 * A syslog line is a datagram of its own, framed as in RFC 3164 without a
 * host, facility local0, severity info. A daemon that went away is looked for
 * at every write, until it is back.
 *
 * A full disk is a failed write: LOG_SINK_FAILED with ENOSPC (or EDQUOT). What
 * becomes of the lines is decided by log_writer.h.
 *
 * Thread: whoever opens it, then the writing thread.
 * Owns:   the descriptor, unless it is a standard one.
 */
#ifndef OBSERVE_LOG_SINK_H
#define OBSERVE_LOG_SINK_H

#include <stdint.h>

#include "base/bytes.h"

enum log_sink_result {
    LOG_SINK_DONE,  /* all lines have been taken */
    LOG_SINK_AGAIN, /* a pipe or socket takes no more for now: wait until fd is
                       writable */
    LOG_SINK_FAILED /* errno says why */
};

enum { LOG_SINK_PREFIX_MAX = 48 };

struct log_sink {
    int fd;           /* -1: not open; a daemon that is looked for */
    const char *path; /* borrowed; NULL: a standard one */
    bool is_syslog;
    bool may_block; /* a write to it might: not ours to make non-blocking */
    uint64_t refused_lines; /* that were too long for a datagram */
    int64_t dated_s;
    char prefix[LOG_SINK_PREFIX_MAX]; /* "<134>Nov 21 10:04:00 sprintd[1]: " */
};

/* Whether where is a path that is opened. */
bool log_sink_is_file(const char *where);

/* 0 or -errno (-ENXIO: a FIFO that nobody reads). where outlives the sink. */
MUST_USE int log_sink_open(struct log_sink *sink, const char *where);
void log_sink_close(struct log_sink *sink);

/* Writes as much of some whole lines as can be without waiting; *taken_out
 * says how much went, also when it failed. Go on where it ended. */
enum log_sink_result log_sink_write(struct log_sink *sink, struct bytes lines,
                                    size_t *taken_out);

/* Opens the sink anew, since the old file has been given another name. torn:
 * what of a line has been written so far. When *is_other_out is set the line
 * must be written again from its beginning, and the old file ends before it. 0,
 * or -errno: the old one is kept. */
MUST_USE int log_sink_reopen(struct log_sink *sink, size_t torn,
                             bool *is_other_out);

/* Takes back what has been written of a line, if that is possible. */
void log_sink_cut(struct log_sink *sink, size_t torn);

#endif
