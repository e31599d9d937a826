/*
 * access_log - one line per exchange, or also per connection's begin and end,
 * to a file, standard output or syslog.
 *
 *   worker -- log_line --> its log_ring -----+
 *   worker -- log_line --> its log_ring -----+--> log_writer --> log_sink
 *
 * A worker formats into memory of its own and hands over what is full or a
 * second old; one thread writes. How lines look is log_format's; that none is
 * torn, and what happens when the sink does not keep up, log_writer's.
 *
 * Thread: access_log_open() to _close() the main thread's, but that any may
 *         count; a struct access_log_buffer its worker's.
 * Owns:   the sink and the writing thread.
 */
#ifndef OBSERVE_ACCESS_LOG_H
#define OBSERVE_ACCESS_LOG_H

#include "observe/log_line.h"
#include "observe/log_writer.h"

struct access_log_options {
    const char *where;  /* see log_sink.h; NULL: no log */
    const char *format; /* see log_format.h */
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
    struct log_needs needs; /* without a log none */
    const struct now *now;
    struct log_dates dates;
    unsigned worker;
};

/* Opens where lines go. The texts in options are borrowed. 0 or -errno
 * (-EINVAL: no such format; -ENXIO: a FIFO that nobody reads). */
MUST_USE int access_log_open(struct access_log *log,
                             const struct access_log_options *options);

/* Starts the writing thread; before workers make their buffers. 0, -errno. */
MUST_USE int access_log_start(struct access_log *log, size_t workers);

/* Opens the log anew under the same name: logrotate has moved the old file. */
void access_log_reopen(struct access_log *log);

/* See log_writer_await_reopen(). */
MUST_USE int access_log_await_reopen(struct access_log *log, unsigned wait_ms);

/* A stop has begun; see log_writer_end_soon(). */
void access_log_end_soon(struct access_log *log);

/* Writes what the buffers, all of them gone, have left. */
void access_log_close(struct access_log *log);

struct log_counters access_log_count(const struct access_log *log);

/* now: the worker's. Refers to log, which must stay where it is. */
void access_log_buffer_init(struct access_log_buffer *buffer,
                            const struct access_log *log, unsigned worker,
                            const struct now *now);
void access_log_buffer_fini(struct access_log_buffer *buffer); /* flushes */

/* Whether lines of such an event are kept. */
static inline bool access_log_tells(const struct access_log_buffer *buffer,
                                    enum log_event event)
{
    return buffer->ring && log_format_tells(buffer->format, event);
}

/* Puts an entry that access_log_tells() wants, and no other. */
void access_log_put(struct access_log_buffer *buffer,
                    const struct log_entry *entry);

/* Hands over what has come since the last call, which was a second ago. */
void access_log_tick(struct access_log_buffer *buffer);

#endif
