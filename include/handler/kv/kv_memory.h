/*
 * kv_memory - limits the memory of all workers together for one purpose:
 * request bodies, or values being sent.
 *
 * An object only counts bytes; the memory itself belongs to whoever has taken
 * it. One address may take most of the memory, but not all. Otherwise a client
 * that asks for much and reads nothing could take all of it, and all other
 * clients would be refused.
 *
 * Invariant: `taken` is at most `max`, and is the sum of all `held`; each
 *            `held` is at most `each`.
 * Thread:    any.
 * Owns:      nothing.
 */
#ifndef HANDLER_KV_KV_MEMORY_H
#define HANDLER_KV_KV_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum { KV_MEMORY_PLACES = 1024 };

struct kv_memory {
    uint64_t max;  /* most bytes at a time; set before any are taken */
    uint64_t each; /* bytes that one address may take; 0: all of `max` */
    _Atomic uint64_t taken;
    /* Bytes taken by addresses. The hash of an address selects its place, which
     * other addresses may share. */
    _Atomic uint64_t held[KV_MEMORY_PLACES];
};

static inline bool kv_memory_add(_Atomic uint64_t *to, uint64_t most,
                                 uint64_t bytes)
{
    uint64_t taken = atomic_load_explicit(to, memory_order_relaxed);

    do {
        if (bytes > most - taken)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(to, &taken, taken + bytes,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

static inline void kv_memory_subtract(_Atomic uint64_t *from, uint64_t bytes)
{
    atomic_fetch_sub_explicit(from, bytes, memory_order_relaxed);
}

static inline _Atomic uint64_t *kv_memory_place(struct kv_memory *memory,
                                                uint64_t asker)
{
    return &memory->held[asker * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
                         (KV_MEMORY_PLACES - 1)];
}

/* Takes `bytes` for the address with the key `asker` (base/address_key.h).
 * Returns false if this would exceed `max`, or what one address may take. */
MUST_USE static inline bool kv_memory_take(struct kv_memory *memory,
                                           uint64_t asker, uint64_t bytes)
{
    _Atomic uint64_t *held = kv_memory_place(memory, asker);
    uint64_t each = memory->each > 0 ? memory->each : memory->max;

    if (!kv_memory_add(held, each, bytes))
        return false;
    if (kv_memory_add(&memory->taken, memory->max, bytes))
        return true;
    kv_memory_subtract(held, bytes);
    return false;
}

/* Gives back `bytes` that were taken for `asker`. */
static inline void kv_memory_give(struct kv_memory *memory, uint64_t asker,
                                  uint64_t bytes)
{
    kv_memory_subtract(&memory->taken, bytes);
    kv_memory_subtract(kv_memory_place(memory, asker), bytes);
}

#endif
