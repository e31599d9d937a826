/*
 * log_ring - the way of one worker's lines to the writing thread: blocks that
 * the worker fills, and a ring that carries them over and back.
 *
 *   worker    lines -> block --flush--> [ ring ] --peek--> sink    writing
 *                        ^                           |             thread
 *                        +--- free <---- give_back --+
 *
 * A ring never has more than LOG_BLOCKS blocks. When none is free, lines are
 * dropped and counted, or the worker waits, as the policy says. The block that
 * came back last is filled next, while it is warm.
 *
 * Invariant: each block is free, being filled, or in the ring.
 * Thread:    log_ring_begin() to log_ring_flush() the worker's;
 *            log_ring_peek() and _give_back() the writing thread's; counts
 *            and log_shared_end_soon() any.
 * Owns:      its blocks.
 */
#ifndef OBSERVE_LOG_RING_H
#define OBSERVE_LOG_RING_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "observe/log_format.h"

enum {
    LOG_BLOCK_BYTES = LOG_LINE_BYTES_MAX, /* so that every line fits in one */
    LOG_BLOCKS = 8
};

enum log_overflow { LOG_OVERFLOW_DROP, LOG_OVERFLOW_WAIT };

/* What the rings of one log have in common. */
struct log_shared {
    enum log_overflow overflow;
    int wake_fd; /* an eventfd: the writing thread has something to do */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* on the monotonic clock: a block came back, or
                               whatever else somebody waits for */
    atomic_uint waiting;    /* workers that wait for a block */
    /* until when workers wait; guarded by mutex; 0: for ever */
    uint64_t until_ms;
};

struct log_block {
    char *data;
    size_t len;
};

/* A ring stands on cache lines of its own. Inside it the two sides share lines,
 * as what both touch changes once a block. */
struct log_ring {
    /* The worker's. */
    _Alignas(64) struct buf lines; /* being filled; data is NULL: no block */
    struct log_shared *shared;
    char *memory; /* all blocks */
    char *free[LOG_BLOCKS];
    unsigned free_count;
    unsigned reclaimed; /* of those given back */
    _Atomic uint64_t put_lines;
    _Atomic uint64_t dropped_lines;
    /* Both sides'. */
    struct log_block ring[LOG_BLOCKS];
    atomic_uint flushed;    /* blocks, by the worker */
    atomic_uint given_back; /* of them, by the writing thread */
};

/* 0 or -errno. */
MUST_USE int log_shared_init(struct log_shared *shared,
                             enum log_overflow overflow);
void log_shared_fini(struct log_shared *shared);

/* Wakes the writing thread. Any thread. */
void log_shared_wake(const struct log_shared *shared);

/* From until_ms of the monotonic clock on nobody waits any more. */
void log_shared_end_soon(struct log_shared *shared, uint64_t until_ms);

/* 0 or -ENOMEM. */
MUST_USE int log_ring_init(struct log_ring *ring, struct log_shared *shared);
void log_ring_fini(struct log_ring *ring);

/* Where to append a line; NULL: all blocks are full, the line is dropped and
 * counted. When it does not fit, log_ring_flush() makes room for it. */
struct buf *log_ring_begin(struct log_ring *ring);

/* Ends the line that was begun, which is whole. */
static inline void log_ring_end(struct log_ring *ring)
{
    uint64_t lines = atomic_load_explicit(&ring->put_lines,
                                          memory_order_relaxed);

    atomic_store_explicit(&ring->put_lines, lines + 1, memory_order_relaxed);
}

/* Hands what has been appended over to the writing thread. */
void log_ring_flush(struct log_ring *ring);

/* The oldest block in the ring, which stays there. False: there is none. */
bool log_ring_peek(struct log_ring *ring, struct log_block *block_out);
/* Gives the block back. */
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
