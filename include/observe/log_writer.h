/*
 * log_writer - the one thread that writes down what the rings carry to it.
 *
 * The blocks of all rings leave one after the other, each in one piece: no
 * line is torn or mixed with another, also when the sink takes half of one
 * and goes on a minute later.
 *
 * When a write fails (the disk is full, ENOSPC; no permission; no daemon), the
 * fault is logged once, the same block is written again after growing pauses,
 * and the end of the fault is logged, too. Meanwhile lines are kept as far as
 * the rings have room. After that they are dropped (LOG_OVERFLOW_DROP) or the
 * workers wait (LOG_OVERFLOW_WAIT), as log_ring.h says. Dropped lines are
 * counted, and logged now and then, and at the end.
 *
 * Nothing here makes a worker wait but LOG_OVERFLOW_WAIT; and nothing holds
 * up a stop for longer than LOG_END_MS.
 *
 * Thread: create, reopen, end_soon and destroy the main thread's; count any;
 *         each ring its worker's.
 * Owns:   the thread, the rings, and the sink it was given.
 */
#ifndef OBSERVE_LOG_WRITER_H
#define OBSERVE_LOG_WRITER_H

#include "observe/log_ring.h"
#include "observe/log_sink.h"

enum {
    LOG_END_MS = 3000,       /* for a sink that is stuck when all shall end */
    LOG_RETRY_MS = 50,       /* after a fault; doubled with each further one */
    LOG_RETRY_MS_MAX = 1000, /* the longest pause after a fault */
    LOG_COMPLAIN_MS = 10000  /* between two complaints of a kind */
};

struct log_counters {
    uint64_t lines;   /* handed to the writing thread, or about to be */
    uint64_t dropped; /* for want of room, or of time at the end */
    uint64_t errors;  /* writes that failed */
};

struct log_writer; /* opaque */

/* Starts the thread. *sink is the writer's from then on; name, for messages,
 * is borrowed. 0, or -errno: *sink stays the caller's. */
MUST_USE int log_writer_create(struct log_writer **writer_out,
                               struct log_sink *sink, const char *name,
                               enum log_overflow overflow, size_t ring_count);

/* Writes what has been flushed, ends the thread, says what was lost. Workers
 * must have flushed what they have. NULL is accepted. */
void log_writer_destroy(struct log_writer *writer);

struct log_ring *log_writer_ring(struct log_writer *writer, size_t number);

/* Has the sink opened anew, soon. */
void log_writer_reopen(struct log_writer *writer);

/* Waits until that has been done. 0; -errno: the old one goes on; -ETIMEDOUT: it
 * will be done later than in wait_ms. */
MUST_USE int log_writer_await_reopen(struct log_writer *writer,
                                     unsigned wait_ms);

/* A stop has begun: workers wait LOG_END_MS from now at most, in all. */
void log_writer_end_soon(struct log_writer *writer);

struct log_counters log_writer_count(const struct log_writer *writer);

#endif
