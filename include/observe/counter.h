/*
 * counter - a number that one thread writes and any thread reads.
 *
 * Adding is a load and a store, no locked instruction: there is no second
 * writer whose addition could be lost between the two. A reader sees each
 * number whole; two numbers need not be of the same moment. Zeroed memory is
 * a counter at 0.
 *
 * Thread: any may call counter_read(); only the one writer the rest. The writer
 *         may be a signal handler, if nothing else on its thread writes the
 *         same counter.
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

/* Sets the counter if value is greater: keeps a maximum. */
static inline void counter_raise(struct counter *counter, uint64_t value)
{
    if (counter_read(counter) < value)
        counter_set(counter, value);
}

#endif
