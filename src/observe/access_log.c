#include "observe/access_log.h"

#include <assert.h>
#include <errno.h>

int access_log_open(struct access_log *log,
                    const struct access_log_options *options)
{
    char fault[LOG_FAULT_BYTES_MAX];

    *log = (struct access_log){.options = *options, .sink = {.fd = -1}};
    if (!options->where)
        return 0;
    if (log_format_compile(&log->format, options->format, fault) != 0)
        return -EINVAL;
    return log_sink_open(&log->sink, options->where);
}

int access_log_start(struct access_log *log, size_t workers)
{
    if (!log->options.where)
        return 0;
    return log_writer_create(&log->writer, &log->sink, log->options.where,
                             log->options.overflow, workers);
}

void access_log_reopen(struct access_log *log)
{
    if (log->writer)
        log_writer_reopen(log->writer);
}

int access_log_await_reopen(struct access_log *log, unsigned wait_ms)
{
    return log->writer ? log_writer_await_reopen(log->writer, wait_ms) : 0;
}

void access_log_end_soon(struct access_log *log)
{
    if (log->writer)
        log_writer_end_soon(log->writer);
}

void access_log_close(struct access_log *log)
{
    log_writer_destroy(log->writer);
    log->writer = NULL;
    log_sink_close(&log->sink);
}

struct log_counters access_log_count(const struct access_log *log)
{
    return log->writer ? log_writer_count(log->writer)
                       : (struct log_counters){0};
}

/* --- A worker's ---------------------------------------------------------- */

void access_log_buffer_init(struct access_log_buffer *buffer,
                            const struct access_log *log, unsigned worker,
                            const struct now *now)
{
    *buffer = (struct access_log_buffer){
        .format = &log->format, .now = now, .worker = worker};
    if (log->writer) {
        buffer->ring = log_writer_ring(log->writer, worker);
        buffer->needs = log->format.needs;
    }
    log_dates_init(&buffer->dates);
}

void access_log_buffer_fini(struct access_log_buffer *buffer)
{
    if (buffer->ring)
        log_ring_flush(buffer->ring);
    buffer->ring = NULL;
}

/* Appends an event's line to the block. Returns false if the line does not
 * fit. */
static bool put_line(struct access_log_buffer *buffer, struct buf *lines,
                     const struct log_entry *entry)
{
    if (!log_line_put(lines, buffer->format, &buffer->dates, buffer->worker,
                      entry))
        return false;
    log_ring_end(buffer->ring);
    return true;
}

void access_log_put(struct access_log_buffer *buffer,
                    const struct log_entry *entry)
{
    struct buf *lines = log_ring_begin(buffer->ring);
    bool fits;

    log_dates_refresh(&buffer->dates, buffer->now);
    if (!lines || put_line(buffer, lines, entry))
        return;
    log_ring_flush(buffer->ring);
    lines = log_ring_begin(buffer->ring);
    if (!lines)
        return;
    fits = put_line(buffer, lines, entry);
    assert(fits); /* any line fits into an empty block */
    (void)fits;
}

void access_log_tick(struct access_log_buffer *buffer)
{
    if (buffer->ring)
        log_ring_flush(buffer->ring);
}
