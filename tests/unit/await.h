/*
 * await - runs a test's loop until something is so, which is soon or never.
 */
#ifndef UNIT_AWAIT_H
#define UNIT_AWAIT_H

#include <ev.h>

enum { PATIENCE_S = 60 };

/* Fails the test. */
void await_fail(struct ev_loop *loop, ev_timer *timer, int events);

/* On `loop`, which includers have. */
#define AWAIT(condition)                                    \
    do {                                                    \
        ev_timer guard_;                                    \
                                                            \
        ev_timer_init(&guard_, await_fail, PATIENCE_S, 0.); \
        ev_timer_start(loop, &guard_);                      \
        while (!(condition))                                \
            ev_run(loop, EVRUN_ONCE);                       \
        ev_timer_stop(loop, &guard_);                       \
    } while (0)

#endif
