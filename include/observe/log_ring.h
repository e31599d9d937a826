/*
 * log_ring - carries one worker's lines to the writing thread: the worker fills
 * blocks, and a ring passes them there and back.
 *
 *   worker    lines -> block --flush--> [ ring ] --peek--> sink    writing
 *                        ^                           |             thread
 *                        +--- free <---- give_back --+
 *
 * A ring never has more than LOG_BLOCKS blocks. When none is free, the policy
 * decides: lines are dropped and counted, or the worker waits. The block that
 * came back last is filled next, while it is in the CPU's cache.
 *
 * Invariant: each block is free, being filled, or in the ring.
 * Thread:    the worker calls log_ring_begin() to log_ring_flush(); the writing
 *            thread log_ring_peek() and _give_back(); any may read counts and
 *            call log_shared_end_soon().
 * Owns:      its blocks.
 */
#ifndef OBSERVE_LOG_RING_H
#define OBSERVE_LOG_RING_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "observe/log_format.h"

enum {
    LOG_BLOCK_BYTES = LOG_LINE_BYTES_MAX, /* every line fits into a block */
    LOG_BLOCKS = 8
};

enum log_overflow { LOG_OVERFLOW_DROP, LOG_OVERFLOW_WAIT };

/* What the rings of one log have in common. */
struct log_shared {
    enum log_overflow overflow;
    int wake_fd; /* an eventfd: wakes the writing thread */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* on the monotonic clock: a block came back, or
                               time is up */
    atomic_uint waiting;    /* workers waiting for a block */
    /* how long workers wait; guarded by mutex; 0: without end */
    uint64_t until_ms;
};

struct log_block {
    char *data;
    size_t len;
};

/* A ring has its own cache lines. Inside it, both sides share lines, since they
 * change them only once per block. */
struct log_ring {
    /* Used by the worker only. */
    _Alignas(64) struct buf lines; /* being filled; data NULL: no block */
    struct log_shared *shared;
    char *memory; /* memory of all blocks */
    char *free[LOG_BLOCKS];
    unsigned free_count;
    unsigned reclaimed; /* of given_back, those in free again */
    _Atomic uint64_t put_lines;
    _Atomic uint64_t dropped_lines;
    /* Used by both sides. */
    struct log_block ring[LOG_BLOCKS];
    atomic_uint flushed;    /* blocks flushed by the worker */
    atomic_uint given_back; /* of these, given back by the writing thread */
};

/* 0 or -errno. */
MUST_USE int log_shared_init(struct log_shared *shared,
                             enum log_overflow overflow);
void log_shared_fini(struct log_shared *shared);

/* Wakes the writing thread; any thread may call this. */
void log_shared_wake(const struct log_shared *shared);

/* Nobody waits any more from until_ms on, on the monotonic clock. */
void log_shared_end_soon(struct log_shared *shared, uint64_t until_ms);

/* 0 or -ENOMEM. */
MUST_USE int log_ring_init(struct log_ring *ring, struct log_shared *shared);
void log_ring_fini(struct log_ring *ring);

/* Returns where to append a line; NULL: all blocks are full, the line is
 * dropped and counted. If the line does not fit there, log_ring_flush() makes
 * room. */
struct buf *log_ring_begin(struct log_ring *ring);

/* Ends the line that was begun, which must be complete. */
static inline void log_ring_end(struct log_ring *ring)
{
    uint64_t lines = atomic_load_explicit(&ring->put_lines,
                                          memory_order_relaxed);

    atomic_store_explicit(&ring->put_lines, lines + 1, memory_order_relaxed);
}

/* Hands the lines appended so far to the writing thread. */
void log_ring_flush(struct log_ring *ring);

/* Finds the oldest block in the ring, which stays there. False: none. */
bool log_ring_peek(struct log_ring *ring, struct log_block *block_out);
/* Gives the oldest block back. */
void log_ring_give_back(struct log_ring *ring);

static inline uint64_t log_ring_put_lines(const struct log_ring *ring)
{
    return atomic_load_explicit(&ring->put_lines, memory_order_relaxed);
}

static inline uint64_t log_ring_dropped_lines(const struct log_ring *ring)
{
    return atomic_load_explicit(&ring->dropped_lines, memory_order_relaxed);
}

#endif
