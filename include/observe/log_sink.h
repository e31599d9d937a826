/*
 * log_sink - the destination of lines: a file that is appended to, a FIFO,
 * standard output, or a syslog daemon.
 *
 *   FILE          a file, which is made (0640) if it is missing
 *   -             standard output, like /dev/stdout; /dev/stderr is standard
 *                 error. Neither is ever closed.
 *   syslog:       the daemon at /dev/log
 *   syslog:/PATH  a daemon that listens at /PATH
 *
 * Each syslog line is a datagram in the format of RFC 3164 without a host,
 * facility local0, severity info. While the daemon is gone, each write tries to
 * connect again.
 *
 * On a full disk, a write fails: LOG_SINK_FAILED with ENOSPC (or EDQUOT).
 * log_writer.h decides what happens to the lines.
 *
 * Thread: the thread that opens the sink, then only the writing thread.
 * Owns:   the descriptor, except standard output and standard error.
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
    int fd;           /* -1 if not open, or if the daemon is gone */
    const char *path; /* borrowed; NULL for standard output or error */
    bool is_syslog;
    /* true if writes may block: `fd` then lacks O_NONBLOCK, since other
     * programs share it */
    bool may_block;
    /* length of the file while it ends with an incomplete line of a killed
     * server, which must be ended first; 0: it does not */
    int64_t torn_bytes;
    uint64_t refused_lines; /* lines too long for a datagram */
    int64_t dated_s;
    char prefix[LOG_SINK_PREFIX_MAX]; /* "<134>Nov 21 10:04:00 sprintd[1]: " */
};

/* log_sink_is_file() says whether `where` is the path of a file,
 * log_sink_is_syslog() whether it names a syslog daemon. */
bool log_sink_is_file(const char *where);
bool log_sink_is_syslog(const char *where);

/* Opens the sink that `where` names; `where` must outlive the sink. If the file
 * ends with an incomplete line, which a killed server left, a newline is added,
 * as soon as the disk has room for it. Returns 0 or -errno; -ENXIO for a FIFO
 * without a reader. */
MUST_USE int log_sink_open(struct log_sink *sink, const char *where);
void log_sink_close(struct log_sink *sink);

/* Writes as many bytes of `lines` as possible without waiting. `lines` must end
 * with the end of a line. *taken_out becomes the number of bytes written, even
 * if the rest could not be written. The next call must begin with the rest. */
enum log_sink_result log_sink_write(struct log_sink *sink, struct bytes lines,
                                    size_t *taken_out);

/* Opens the sink's file anew, after the old file was renamed. `torn` is how
 * many bytes of an incomplete line were written. *is_other_out becomes true if
 * another file is open now. In this case, the incomplete line was cut from the
 * old file, and the caller must write the line again from its beginning.
 * Returns 0, or -errno; on failure the old file stays in use. */
MUST_USE int log_sink_reopen(struct log_sink *sink, size_t torn,
                             bool *is_other_out);

/* Removes an incomplete line from the file's end, if possible. `torn` is the
 * line's length. */
void log_sink_cut(struct log_sink *sink, size_t torn);

#endif
