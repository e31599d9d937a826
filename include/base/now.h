/*
 * now - what time it is, read once a turn.
 *
 * Two clocks: monotonic for deadlines, the wall for dates. The Date text is
 * made anew only when the second changes.
 *
 * Thread: each thread refreshes its own struct; no shared state.
 */
#ifndef BASE_NOW_H
#define BASE_NOW_H

#include <stdint.h>

#include "base/bytes.h"

struct now {
    uint64_t mono_ms; /* monotonic, coarse: to a kernel tick (1 to 10 ms) */
    int64_t wall_s;   /* seconds since the epoch */
    int64_t wall_ns;  /* nanoseconds since the epoch, coarse too */
};

/* Reads the clocks (coarse ones: no system call, about 10 ns). */
void now_refresh(struct now *now);

/* The monotonic clock to the nanosecond: for measuring how long something
 * took. No system call either, about 25 ns. */
uint64_t now_read_ns(void);

#endif
