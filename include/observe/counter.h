/*
 * counter - a number that one thread writes and any thread reads.
 *
 * Adding is a load and a store, without a locked instruction: only one thread
 * writes, so no other addition can be lost between load and store. A reader
 * sees each number whole, but two numbers may be of different moments. Zeroed
 * memory is a counter at 0.
 *
 * Thread: any thread may call counter_read(); only the one writer may call the
 *         other functions. The writer may be a signal handler, if nothing else
 *         on the handler's thread writes the same counter.
 */
#ifndef OBSERVE_COUNTER_H
#define OBSERVE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct counter {
    _Atomic uint64_t value;
};

static inline uint64_t counter_read(const struct counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline void counter_set(struct counter *counter, uint64_t value)
{
    atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

static inline void counter_add(struct counter *counter, uint64_t more)
{
    counter_set(counter, counter_read(counter) + more);
}

/* Raises the counter to `value` if the counter is lower, to keep a maximum. */
static inline void counter_raise(struct counter *counter, uint64_t value)
{
    if (counter_read(counter) < value)
        counter_set(counter, value);
}

#endif
