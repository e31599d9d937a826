/*
 * log_writer - the one thread that writes the blocks of all rings to the sink.
 *
 * Blocks are written one after the other, and the next block begins only after
 * the end of the one before. So no line is torn or mixed with another, even if
 * the sink takes half of a block now and the rest a minute later.
 *
 * When a write fails (the disk is full, ENOSPC; no permission; no daemon), the
 * fault is logged once, the same block is written again after growing pauses,
 * and the end of the fault is logged, too. Meanwhile the rings keep lines while
 * they have room; then lines are dropped (LOG_OVERFLOW_DROP) or the workers
 * wait (LOG_OVERFLOW_WAIT), as log_ring.h says. Dropped lines are counted; the
 * count is logged from time to time, and at the end.
 *
 * Only LOG_OVERFLOW_WAIT makes workers wait. A stuck sink delays the server's
 * stop by LOG_END_MS at most.
 *
 * Thread: the main thread may call all functions, any thread
 *         log_writer_count(); each worker gets its own ring.
 * Owns:   the thread, the rings, and the sink.
 */
#ifndef OBSERVE_LOG_WRITER_H
#define OBSERVE_LOG_WRITER_H

#include "observe/log_ring.h"
#include "observe/log_sink.h"

enum {
    LOG_END_MS = 3000,       /* how long a stop waits for a stuck sink */
    LOG_RETRY_MS = 50,       /* pause after a fault, doubled each time */
    LOG_RETRY_MS_MAX = 1000, /* the longest pause after a fault */
    LOG_COMPLAIN_MS = 10000  /* time between two log messages of a kind */
};

struct log_counters {
    uint64_t lines;   /* lines handed to the writing thread */
    uint64_t dropped; /* lines lost: no room, or no time at the end */
    uint64_t errors;  /* writes that failed */
};

struct log_writer; /* opaque */

/* Starts the thread, which takes *sink over. `name` appears in log messages and
 * is borrowed. Returns 0, or -errno; on failure *sink stays the caller's. */
MUST_USE int log_writer_create(struct log_writer **writer_out,
                               struct log_sink *sink, const char *name,
                               enum log_overflow overflow, size_t ring_count);

/* Writes all flushed lines, ends the thread, and logs how many lines were lost.
 * Workers must have flushed all their lines. NULL is accepted. */
void log_writer_destroy(struct log_writer *writer);

struct log_ring *log_writer_ring(struct log_writer *writer, size_t number);

/* Makes the thread open the sink anew soon. */
void log_writer_reopen(struct log_writer *writer);

/* Waits until the sink was opened anew. Returns 0, -ETIMEDOUT if that takes
 * more than wait_ms, or another -errno if the old file stays in use. */
MUST_USE int log_writer_await_reopen(struct log_writer *writer,
                                     unsigned wait_ms);

/* Lets no worker wait for longer than LOG_END_MS from now on, since the server
 * stops. */
void log_writer_end_soon(struct log_writer *writer);

struct log_counters log_writer_count(const struct log_writer *writer);

#endif
