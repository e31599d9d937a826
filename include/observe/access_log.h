/*
 * access_log - one line per exchange, in the Combined Log Format.
 *
 * Each worker formats into a buffer of its own, which goes to the file in
 * whole lines, in one write(2), when it is full or a second old. Bytes that
 * came from clients are escaped, so that nobody can forge a line.
 *
 * A worker never waits for a reader: what a pipe or terminal does not take
 * stays in the buffer, and when that is full lines are dropped and counted.
 *
 * Thread: access_log_open() and _close() the main thread's; a struct
 *         access_log_buffer its worker's. The descriptor is shared
 *         (O_APPEND: writes of different workers do not overlap).
 * Owns:   the descriptor, unless it is standard output.
 */
#ifndef OBSERVE_ACCESS_LOG_H
#define OBSERVE_ACCESS_LOG_H

#include "base/address.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/now.h"

enum { ACCESS_LOG_BUFFER_BYTES = 65536, ACCESS_LOG_LINE_BYTES_MAX = 32768 };

struct access_log {
    int fd;         /* -1: no log is kept */
    bool may_block; /* a pipe or a terminal, whose reader may be slow */
};

struct access_log_buffer {
    const struct access_log *log;
    const struct now *now;
    struct buf lines;
    uint64_t oldest_ms; /* when the first line in it was written */
    struct log_limit complaint;
    uint64_t lost_lines; /* since the last complaint */
    int64_t dated_s;
    char date[40]; /* "[21/Nov/2026:10:04:00 +0000]" */
};

/* What a line says. Texts may be empty: "-" stands for them. */
struct access_log_entry {
    const struct address *peer;
    struct bytes request_line;
    struct bytes referer;
    struct bytes user_agent;
    unsigned status;
    uint64_t body_bytes; /* sent */
};

/* path: a file, made when it is not there and appended to; "-": standard
 * output; NULL: none. 0 or -errno (-ENXIO: a FIFO that nobody reads). */
MUST_USE int access_log_open(struct access_log *log, const char *path);
void access_log_close(struct access_log *log);

/* 0 or -ENOMEM. */
MUST_USE int access_log_buffer_init(struct access_log_buffer *buffer,
                                    const struct access_log *log,
                                    const struct now *now);
void access_log_buffer_fini(struct access_log_buffer *buffer); /* flushes */

static inline bool access_log_is_kept(const struct access_log_buffer *buffer)
{
    return buffer->log->fd >= 0;
}

void access_log_put(struct access_log_buffer *buffer,
                    const struct access_log_entry *entry);

/* Writes what is a second old. Called now and then. */
void access_log_tick(struct access_log_buffer *buffer);

#endif
