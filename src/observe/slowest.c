#include "observe/slowest.h"

enum { TRIES_MAX = 64 };

/* Writes *request into the slot. Empties the slot if `request` is NULL. */
static void write_slot(struct slowest_slot *slot,
                       const struct slow_request *request)
{
    uint64_t words[SLOWEST_WORDS] = {0};
    uint64_t sequence = atomic_load_explicit(&slot->sequence,
                                             memory_order_relaxed);

    if (request)
        memcpy(words, request, sizeof(words));
    atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_relaxed);
    for (unsigned i = 0; i < SLOWEST_WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    atomic_store_explicit(&slot->sequence, sequence + 2, memory_order_release);
}

/* Reads a slot. Returns false if the slot is empty, or was being written at
 * each try. */
static bool read_slot(const struct slowest_slot *slot, struct slow_request *out)
{
    uint64_t words[SLOWEST_WORDS];

    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        uint64_t sequence = atomic_load_explicit(&slot->sequence,
                                                 memory_order_acquire);

        if (sequence == 0)
            return false; /* the slot was never written */
        for (unsigned i = 0; i < SLOWEST_WORDS; i++)
            words[i] = atomic_load_explicit(&slot->words[i],
                                            memory_order_acquire);
        if (sequence % 2 == 1 ||
            atomic_load_explicit(&slot->sequence, memory_order_relaxed) !=
                sequence)
            continue;
        memcpy(out, words, sizeof(words));
        return out->total_ns > 0;
    }
    return false;
}

/* Finds the slot with the shortest time in the present generation; empty slots
 * have the time 0. */
static unsigned find_least(const struct slowest *slowest)
{
    unsigned least = 0;

    for (unsigned i = 1; i < SLOWEST_COUNT; i++)
        if (slowest->total_ns[i] < slowest->total_ns[least])
            least = i;
    return least;
}

void slowest_put(struct slowest *slowest, const struct slow_request *request)
{
    unsigned slot = find_least(slowest);

    write_slot(&slowest->slots[slowest->present][slot], request);
    slowest->total_ns[slot] = request->total_ns;
    slowest->threshold_ns = slowest->total_ns[find_least(slowest)];
}

void slowest_tick(struct slowest *slowest, uint64_t mono_ms)
{
    if (mono_ms - slowest->began_ms < SLOWEST_GENERATION_MS)
        return;
    slowest->began_ms = mono_ms;
    slowest->present ^= 1;
    for (unsigned i = 0; i < SLOWEST_COUNT; i++) {
        struct slowest_slot *slot = &slowest->slots[slowest->present][i];

        /* Slots that were never written are not touched, so that they use no
         * memory. */
        if (atomic_load_explicit(&slot->sequence, memory_order_relaxed) > 0)
            write_slot(slot, NULL);
        slowest->total_ns[i] = 0;
    }
    slowest->threshold_ns = 0;
}

unsigned slowest_read(const struct slowest *slowest,
                      struct slow_request out[2 * SLOWEST_COUNT])
{
    unsigned count = 0;

    for (unsigned generation = 0; generation < 2; generation++)
        for (unsigned i = 0; i < SLOWEST_COUNT; i++)
            count += read_slot(&slowest->slots[generation][i], &out[count]);
    return count;
}
