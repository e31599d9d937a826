/*
 * log_ring - carries one worker's lines to the writing thread. The worker fills
 * blocks; the ring passes full blocks to the thread, and empty blocks back.
 *
 *   worker    lines -> block --flush--> [ ring ] --peek--> sink    writing
 *                        ^                           |             thread
 *                        +--- free <---- give_back --+
 *
 * A ring never has more than LOG_BLOCKS blocks. When no block is free, the
 * policy (enum log_overflow) decides: lines are dropped and counted, or the
 * worker waits. The block that came back last is filled first, since it is
 * likely to be in the CPU's cache.
 *
 * Invariant: each block is free, being filled, or in the ring.
 * Thread:    the worker calls log_ring_begin() to log_ring_flush(); the writing
 *            thread calls log_ring_peek() and log_ring_give_back(). Any thread
 *            may read counts and call log_shared_end_soon().
 * Owns:      the blocks.
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

/* The state that the rings of one log share. */
struct log_shared {
    enum log_overflow overflow;
    int wake_fd; /* an eventfd that wakes the writing thread */
    pthread_mutex_t mutex;
    /* signalled when a block came back or until_ms was set; waits use the
     * monotonic clock */
    pthread_cond_t changed;
    atomic_uint waiting; /* how many workers wait for a block */
    /* time when workers stop waiting, 0 for never; guarded by `mutex` */
    uint64_t until_ms;
};

struct log_block {
    char *data;
    size_t len;
};

/* A ring shares no cache line with other data. Inside the ring, the worker and
 * the writing thread share cache lines, since each of the two writes there only
 * once per block. */
struct log_ring {
    /* Members that only the worker uses. */
    /* the block being filled; lines.data is NULL without a block */
    _Alignas(64) struct buf lines;
    struct log_shared *shared;
    char *memory; /* memory of all blocks */
    char *free[LOG_BLOCKS];
    unsigned free_count;
    unsigned reclaimed; /* how many of the blocks given back are in `free` */
    _Atomic uint64_t put_lines;
    _Atomic uint64_t dropped_lines;
    /* Members that the worker and the writing thread use. */
    struct log_block ring[LOG_BLOCKS];
    atomic_uint flushed;    /* how many blocks the worker has flushed */
    atomic_uint given_back; /* how many of these the writing thread gave back */
};

/* Returns 0 or -errno. */
MUST_USE int log_shared_init(struct log_shared *shared,
                             enum log_overflow overflow);
void log_shared_fini(struct log_shared *shared);

/* Wakes the writing thread. Any thread may call this function. */
void log_shared_wake(const struct log_shared *shared);

/* Sets the time on the monotonic clock at which all workers stop waiting. */
void log_shared_end_soon(struct log_shared *shared, uint64_t until_ms);

/* Returns 0 or -ENOMEM. */
MUST_USE int log_ring_init(struct log_ring *ring, struct log_shared *shared);
void log_ring_fini(struct log_ring *ring);

/* Returns the buffer to which a line can be appended. Returns NULL if all
 * blocks are full; the line is then dropped and counted. If the line does not
 * fit into the buffer, the caller flushes and begins again. */
struct buf *log_ring_begin(struct log_ring *ring);

/* Ends the line that log_ring_begin() began. The line must be complete. */
static inline void log_ring_end(struct log_ring *ring)
{
    uint64_t lines = atomic_load_explicit(&ring->put_lines,
                                          memory_order_relaxed);

    atomic_store_explicit(&ring->put_lines, lines + 1, memory_order_relaxed);
}

/* Hands the lines appended so far to the writing thread. */
void log_ring_flush(struct log_ring *ring);

/* Finds the oldest block in the ring, without removing the block. Returns false
 * if the ring is empty. */
bool log_ring_peek(struct log_ring *ring, struct log_block *block_out);
/* Gives the oldest block in the ring back to the worker. */
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
