/*
 * access_log - writes one line per exchange, and on request also per accepted
 * and per closed connection, to a file, standard output or syslog.
 *
 *   worker -- log_line --> its log_ring -----+
 *   worker -- log_line --> its log_ring -----+--> log_writer --> log_sink
 *
 * A worker formats lines into its own memory, and hands over each block that is
 * full or a second old. One thread writes the blocks. log_format decides how
 * lines look. log_writer keeps lines whole, and decides what happens when the
 * sink does not keep up.
 *
 * Thread: the main thread calls access_log_open() to access_log_close(); any
 *         thread may call access_log_count(). A struct access_log_buffer
 *         belongs to one worker.
 * Owns:   the sink and the writing thread.
 */
#ifndef OBSERVE_ACCESS_LOG_H
#define OBSERVE_ACCESS_LOG_H

#include "observe/log_line.h"
#include "observe/log_writer.h"

struct access_log_options {
    const char *where;  /* a log_sink's destination; NULL for no log */
    const char *format; /* a format (log_format.h) */
    enum log_overflow overflow;
};

struct access_log {
    struct access_log_options options;
    struct log_format format;
    struct log_sink sink;
    struct log_writer *writer; /* NULL before the start, or without a log */
};

struct access_log_buffer {
    const struct log_format *format;
    struct log_ring *ring;  /* NULL without a log */
    struct log_needs needs; /* what lines need; all false without a log */
    const struct now *now;
    struct log_dates dates;
    unsigned worker;
};

/* Opens the sink. The texts in `options` are borrowed. Returns 0 or -errno;
 * -EINVAL if the format is invalid, -ENXIO if the sink is a FIFO without a
 * reader. */
MUST_USE int access_log_open(struct access_log *log,
                             const struct access_log_options *options);

/* Starts the writing thread, before workers make their buffers. Returns 0 or
 * -errno. */
MUST_USE int access_log_start(struct access_log *log, size_t workers);

/* Opens the log's file anew. To be called after the old file was renamed. */
void access_log_reopen(struct access_log *log);

/* Waits until the log's file is open anew; see log_writer_await_reopen(). */
MUST_USE int access_log_await_reopen(struct access_log *log, unsigned wait_ms);

/* Limits how long workers wait for the log. To be called when the server begins
 * to stop; see log_writer_end_soon(). */
void access_log_end_soon(struct access_log *log);

/* Writes the remaining lines and closes the log. Each buffer must have been
 * given to access_log_buffer_fini() before. */
void access_log_close(struct access_log *log);

struct log_counters access_log_count(const struct access_log *log);

/* Initializes a worker's buffer. `now` is the worker's clock. The buffer keeps
 * a pointer into *log, so *log must not move. */
void access_log_buffer_init(struct access_log_buffer *buffer,
                            const struct access_log *log, unsigned worker,
                            const struct now *now);
/* Flushes the lines, and ends the use of the buffer. */
void access_log_buffer_fini(struct access_log_buffer *buffer);

/* Whether the log's format has a line for events of this kind. */
static inline bool access_log_tells(const struct access_log_buffer *buffer,
                                    enum log_event event)
{
    return buffer->ring && log_format_tells(buffer->format, event);
}

/* Appends an event's line to the buffer. To be called only for events for which
 * access_log_tells() is true. */
void access_log_put(struct access_log_buffer *buffer,
                    const struct log_entry *entry);

/* Hands the lines of the last second to the writing thread; to be called once a
 * second. */
void access_log_tick(struct access_log_buffer *buffer);

#endif
