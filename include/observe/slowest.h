/*
 * slowest - one worker's slowest requests of the last one to two minutes.
 *
 * There are two generations of SLOWEST_COUNT slots: one for the present minute,
 * one for the minute before. A request enters if it took longer than
 * slowest_threshold_ns(), which is the shortest time in the present generation,
 * or 0 while slots are free. So the hot path is one comparison, and of n
 * similar requests only about SLOWEST_COUNT * ln(n) enter. The two generations
 * together contain the SLOWEST_COUNT slowest requests since the earlier
 * generation began.
 *
 * Writing never waits. Each slot is a sequence lock: its sequence is odd while
 * the slot is written. A reader that finds the sequence odd or changed tries
 * again. The contents are atomic words, stored with release and loaded with
 * acquire, instead of fences (Boehm, "Can seqlocks get along with programming
 * language memory models?", MSPC 2012): a reader that sees a word of a later
 * write also sees the odd sequence of that write. After some tries a reader
 * skips the slot, so a writer that lost its processor does not delay readers.
 *
 * Zeroed memory has no requests.
 *
 * Thread: any thread may call slowest_read(); only the one writer may call the
 *         other functions.
 * Owns:   nothing outside of the struct; texts are copied.
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
    int64_t wall_ns;   /* when the request ended, in ns since the epoch */
    uint64_t total_ns; /* never 0 */
    uint64_t wait_ns;
    uint64_t body_bytes; /* bytes of the response's body */
    struct address peer;
    uint16_t status;
    uint8_t method;
    uint8_t target_len;
    /* path as sent, without query; may be cut */
    char target[SLOWEST_TARGET_MAX];
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
    uint64_t total_ns[SLOWEST_COUNT]; /* times in the present slots */
    uint64_t began_ms;
    unsigned present;
    struct slowest_slot slots[2][SLOWEST_COUNT];
};

/* Returns the time that a request must exceed to enter the list. */
static inline uint64_t slowest_threshold_ns(const struct slowest *slowest)
{
    return slowest->threshold_ns;
}

/* Enters a request into the list. Its total_ns must be above the threshold. */
void slowest_put(struct slowest *slowest, const struct slow_request *request);

/* Begins a new generation if the present one is a minute old. To be called
 * about once a second. */
void slowest_tick(struct slowest *slowest, uint64_t mono_ms);

/* Copies all requests of both generations, unsorted. Returns how many were
 * copied. */
unsigned slowest_read(const struct slowest *slowest,
                      struct slow_request out[2 * SLOWEST_COUNT]);

#endif
