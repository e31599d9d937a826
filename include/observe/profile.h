/*
 * profile - what each thread does, and samples of it: where the processor's
 * time goes.
 *
 * Each thread keeps its current phase, which takes one store to change; phases
 * nest. With --profile, a timer on the thread's own processor time sends it a
 * signal at equal steps, and the handler counts one sample of the current
 * phase. A waiting thread is not disturbed. The kernel checks such timers at
 * its tick: a step is a tick (1 to 10 ms), or STEP_NS if that is longer.
 *
 *   accept    taking connections over, or turning them away
 *   read      receiving bytes
 *   parse     heads and bodies, and refusing them
 *   lookup    handlers: routing, caches, files, pages, pieces of streams
 *   schedule  choosing who sends, limiting by the link
 *   send      sending, and checking that a file is unchanged
 *   log       formatting log lines, counting, giving back what was sent
 *   other     the rest: waiting for events, closing, time limits
 *
 * The signal is delivered on return from the kernel: time in a system call
 * counts for the phase around the call.
 *
 * Workers and the acceptor are sampled, but not the thread that writes the log:
 * shares are of the workers' time.
 *
 * Thread: each for itself, in its signal handler, too.
 * Owns:   the timer; and the disposition of SIGPROF, once one has started.
 */
#ifndef OBSERVE_PROFILE_H
#define OBSERVE_PROFILE_H

#include <signal.h>

#include "observe/stats.h"

/* An enum stats_phase; private to the two functions below. It is part of
 * programs only, never of a shared library, so it may lie at a fixed distance
 * from the thread's register, where a store needs no address first. */
extern _Thread_local volatile sig_atomic_t profile_phase
    __attribute__((tls_model("local-exec")));

/* Sets the phase of this thread. Returns the previous phase, for
 * profile_leave(). */
MUST_USE static inline enum stats_phase profile_enter(enum stats_phase phase)
{
    enum stats_phase before = (enum stats_phase)profile_phase;

    profile_phase = (sig_atomic_t)phase;
    return before;
}

static inline void profile_leave(enum stats_phase before)
{
    profile_phase = (sig_atomic_t)before;
}

/* Samples this thread into profile until profile_stop(), which must be called
 * before the thread ends. Returns 0 or -errno; -EAGAIN: no timer is left. */
MUST_USE int profile_start(struct stats_profile *profile);

/* Ends sampling; may be called without a start. */
void profile_stop(void);

#endif
