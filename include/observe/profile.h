/*
 * profile - what each thread is at, and samples of it: where the processor's
 * time goes.
 *
 * A thread always knows its phase, which is one store to change; phases nest.
 * With --profile a timer of the thread's own processor time sends it a signal
 * at equal steps, and the handler counts one sample of the phase it finds. A
 * thread that waits is not disturbed. The kernel looks at such timers at its
 * tick: a step is a tick (1 to 10 ms), or STEP_NS where that is longer.
 *
 *   accept    taking connections over, or turning them away
 *   read      recv
 *   parse     heads and bodies, and what of them is refused
 *   lookup    handlers: routing, caches, files, pages, pieces of streams
 *   schedule  whose turn it is, what the link lets through
 *   send      send, sendmsg, sendfile; whether the file still is the same
 *   log       formatting log lines, counting, giving back what was sent
 *   other     the rest: waiting for events, closing, time limits
 *
 * The signal is taken on the way out of the kernel: what that does in a system
 * call counts to the phase around the call.
 *
 * Sampled are workers and the acceptor. The thread that writes the log is not:
 * shares are of the workers' time.
 *
 * Thread: each for itself, its handler included.
 * Owns:   the timer; and the disposition of SIGPROF, once one has started.
 */
#ifndef OBSERVE_PROFILE_H
#define OBSERVE_PROFILE_H

#include <signal.h>

#include "observe/stats.h"

/* An enum stats_phase; private to the two functions below. It is in programs
 * only, never in a shared library: so it may lie at a fixed distance from the
 * thread's register, where a store needs no address first. */
extern _Thread_local volatile sig_atomic_t profile_phase
    __attribute__((tls_model("local-exec")));

/* Sets the phase of this thread from now on. Returns the phase before, which
 * profile_leave() wants. */
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

/* Samples this thread into profile, until profile_stop(), which it must call
 * before it ends. 0 or -errno (-EAGAIN: it may have no more timers). */
MUST_USE int profile_start(struct stats_profile *profile);

/* No sample comes after it. May be called without a start. */
void profile_stop(void);

#endif
