/*
 * kv_memory - limits the memory of all workers together for one purpose:
 * request bodies, or values being sent.
 *
 * It only counts bytes; the memory itself belongs to whoever has taken it.
 *
 * Invariant: taken is never above max.
 * Thread:    any.
 * Owns:      nothing.
 */
#ifndef HANDLER_KV_KV_MEMORY_H
#define HANDLER_KV_KV_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

struct kv_memory {
    uint64_t max; /* set before anything is taken */
    _Atomic uint64_t taken;
};

/* Takes that many bytes. False: they would exceed max. */
MUST_USE static inline bool kv_memory_take(struct kv_memory *memory,
                                           uint64_t bytes)
{
    uint64_t taken = atomic_load_explicit(&memory->taken, memory_order_relaxed);

    do {
        if (bytes > memory->max - taken)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&memory->taken, &taken,
                                                    taken + bytes,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static inline void kv_memory_give(struct kv_memory *memory, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&memory->taken, bytes, memory_order_relaxed);
}

#endif
