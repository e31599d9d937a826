/*
 * now - the time, read once per turn.
 *
 * There are two clocks: the monotonic clock for deadlines, the wall clock for
 * dates.
 *
 * Thread: each thread refreshes its own struct; no shared state.
 */
#ifndef BASE_NOW_H
#define BASE_NOW_H

#include <stdint.h>

#include "base/bytes.h"

struct now {
    uint64_t mono_ms; /* monotonic time, exact to a tick of 1 to 10 ms */
    int64_t wall_s;   /* wall clock, in seconds since the epoch */
    int64_t wall_ns;  /* the same moment in nanoseconds, exact to a tick */
};

/* Reads the coarse clocks, which takes about 10 ns and no system call. */
void now_refresh(struct now *now);

/* Reads the monotonic clock to the nanosecond, to measure how long something
 * takes. A call takes about 25 ns and no system call. */
uint64_t now_read_ns(void);

#endif
