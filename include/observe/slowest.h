/*
 * slowest - the slowest requests of the last one to two minutes, of one
 * worker.
 *
 * There are two generations of SLOWEST_COUNT slots: that of the minute under
 * way and that of the minute before. A request enters when it took longer
 * than slowest_threshold_ns(), the least in the full present generation: so
 * the hot path is one comparison, and of n requests alike only about
 * SLOWEST_COUNT * ln(n) enter. Both together hold the slowest SLOWEST_COUNT of
 * all since the earlier one began, exactly.
 *
 * Writing never waits. Each slot is a sequence lock: odd while it is
 * written, and a reader that finds it odd or changed tries again. The contents
 * are atomic words, stored with release and loaded with acquire instead of
 * fences between (Boehm, "Can seqlocks get along with programming language
 * memory models?", MSPC 2012): a reader that gets a word of a later writing
 * also gets its odd number. A reader gives a slot up after some tries, so
 * that a writer that lost its processor does not hold it up either.
 *
 * Zeroed memory is empty.
 *
 * Thread: slowest_read() any; the rest its one writer's.
 * Owns:   all of it; texts are copied.
 */
#ifndef OBSERVE_SLOWEST_H
#define OBSERVE_SLOWEST_H

#include "base/address.h"
#include "observe/counter.h"

enum {
    SLOWEST_COUNT = 16,
    SLOWEST_GENERATION_MS = 60000,
    SLOWEST_TARGET_MAX = 128
};

struct slow_request {
    int64_t wall_ns;   /* when it was done, since the epoch */
    uint64_t total_ns; /* never 0 */
    uint64_t wait_ns;
    uint64_t body_bytes; /* of the response */
    struct address peer;
    uint16_t status;
    uint8_t method;
    uint8_t target_len;
    char target[SLOWEST_TARGET_MAX]; /* as sent, to its query; cut at the end */
};

enum { SLOWEST_WORDS = sizeof(struct slow_request) / sizeof(uint64_t) };

_Static_assert(sizeof(struct slow_request) % sizeof(uint64_t) == 0,
               "it is copied by words");

struct slowest_slot {
    _Atomic uint64_t sequence;
    _Atomic uint64_t words[SLOWEST_WORDS];
};

struct slowest {
    /* private */
    uint64_t threshold_ns;
    uint64_t total_ns[SLOWEST_COUNT]; /* of the present generation */
    uint64_t began_ms;
    unsigned present;
    struct slowest_slot slots[2][SLOWEST_COUNT];
};

/* The least time that enters: only what took longer does. */
static inline uint64_t slowest_threshold_ns(const struct slowest *slowest)
{
    return slowest->threshold_ns;
}

/* request->total_ns is above the threshold. */
void slowest_put(struct slowest *slowest, const struct slow_request *request);

/* Begins a new generation when it is time; once a second, or less often. */
void slowest_tick(struct slowest *slowest, uint64_t mono_ms);

/* Copies what both generations hold, in no order; returns how many. */
unsigned slowest_read(const struct slowest *slowest,
                      struct slow_request out[2 * SLOWEST_COUNT]);

#endif
