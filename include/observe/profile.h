/*
 * profile - where the processor's time goes: the phase of each thread, and
 * samples of the phases.
 *
 * Each thread keeps its current phase; a change of phase is one store. Phases
 * nest. With --profile, a timer on the thread's own processor time sends a
 * signal to the thread at equal steps, and the signal's handler counts one
 * sample of the current phase. A waiting thread is not disturbed. The kernel
 * checks such timers at its tick (1 to 10 ms), so a step is a tick, but not
 * shorter than STEP_NS (1 ms).
 *
 *   accept    accepting connections, or turning them away
 *   read      receiving bytes
 *   parse     heads and bodies, and refusing them
 *   lookup    handlers: routing, caches, files, pages, pieces of streams
 *   schedule  choosing who sends, limiting by the link
 *   send      sending, and checking that a file is unchanged
 *   log       formatting log lines, counting, giving back what was sent
 *   other     the rest: waiting for events, closing, time limits
 *
 * The signal is delivered on return from the kernel, so time in a system call
 * counts for the phase around the call.
 *
 * Workers and the acceptor are sampled. The thread that writes the log is not
 * sampled, since the shares of the phases are shares of the workers' time.
 *
 * Thread: each thread uses only its own profile, also in its signal handler.
 * Owns:   the timer, and from the first start on the disposition of SIGPROF.
 */
#ifndef OBSERVE_PROFILE_H
#define OBSERVE_PROFILE_H

#include <signal.h>

#include "observe/stats.h"

/* The thread's phase, an enum stats_phase; private to profile_enter() and
 * profile_leave(). The model local-exec gives the variable a fixed distance
 * from the thread's register, so a store need not look up the address. This
 * model is allowed in programs, but not in shared libraries. */
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

/* Begins to sample this thread into *profile. The thread must call
 * profile_stop() before it ends. Returns 0 or -errno; -EAGAIN if no timer is
 * left. */
MUST_USE int profile_start(struct stats_profile *profile);

/* Ends sampling. Does nothing if sampling was not started. */
void profile_stop(void);

#endif
