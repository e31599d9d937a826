/*
 * access_log - writes one line per exchange, or also for a connection's begin
 * and end, to a file, standard output or syslog.
 *
 *   worker -- log_line --> its log_ring -----+
 *   worker -- log_line --> its log_ring -----+--> log_writer --> log_sink
 *
 * A worker formats lines into its own memory and hands over blocks that are
 * full or a second old; one thread writes them. log_format decides how lines
 * look; log_writer keeps them whole, and decides what happens when the sink
 * does not keep up.
 *
 * Thread: the main thread calls access_log_open() to _close(), any counts; a
 *         struct access_log_buffer is its worker's.
 * Owns:   the sink and the writing thread.
 */
#ifndef OBSERVE_ACCESS_LOG_H
#define OBSERVE_ACCESS_LOG_H

#include "observe/log_line.h"
#include "observe/log_writer.h"

struct access_log_options {
    const char *where;  /* a file or the like (log_sink.h); NULL: no log */
    const char *format; /* a format (log_format.h) */
    enum log_overflow overflow;
};

struct access_log {
    struct access_log_options options;
    struct log_format format;
    struct log_sink sink;
    struct log_writer *writer; /* NULL: not started, or no log */
};

struct access_log_buffer {
    const struct log_format *format;
    struct log_ring *ring;  /* NULL: no log */
    struct log_needs needs; /* what lines need; nothing without a log */
    const struct now *now;
    struct log_dates dates;
    unsigned worker;
};

/* Opens the place where lines go. The texts in options are borrowed. Returns 0
 * or -errno: -EINVAL: no such format; -ENXIO: a FIFO without a reader. */
MUST_USE int access_log_open(struct access_log *log,
                             const struct access_log_options *options);

/* Starts the writing thread, before workers make their buffers. 0 or -errno. */
MUST_USE int access_log_start(struct access_log *log, size_t workers);

/* Opens the log anew under the same name, since the old file was renamed. */
void access_log_reopen(struct access_log *log);

/* See log_writer_await_reopen(). */
MUST_USE int access_log_await_reopen(struct access_log *log, unsigned wait_ms);

/* Tells that the server is stopping; see log_writer_end_soon(). */
void access_log_end_soon(struct access_log *log);

/* Writes what is left, after all buffers were finished, and closes the log. */
void access_log_close(struct access_log *log);

struct log_counters access_log_count(const struct access_log *log);

/* now: the worker's clock. Refers to log, which must not move. */
void access_log_buffer_init(struct access_log_buffer *buffer,
                            const struct access_log *log, unsigned worker,
                            const struct now *now);
void access_log_buffer_fini(struct access_log_buffer *buffer); /* flushes it */

/* Whether the log has lines for such an event. */
static inline bool access_log_tells(const struct access_log_buffer *buffer,
                                    enum log_event event)
{
    return buffer->ring && log_format_tells(buffer->format, event);
}

/* Puts an entry of an event for which access_log_tells() is true. */
void access_log_put(struct access_log_buffer *buffer,
                    const struct log_entry *entry);

/* Hands over the lines of the last second; to be called once a second. */
void access_log_tick(struct access_log_buffer *buffer);

#endif
