/*
 * short_runs - gets a CPU sooner for a thread that needs it only briefly.
 *
 * On a CPU that a worker keeps busy, the kernel runs another thread only after
 * the worker's slice, which may last some milliseconds. A thread that declares
 * its runs as short (Linux 6.12 and later) runs sooner, without getting more of
 * the CPU.
 *
 * Thread: acts on the calling thread.
 */
#ifndef PROCESS_SHORT_RUNS_H
#define PROCESS_SHORT_RUNS_H

/* Declares the calling thread's runs as short. Older kernels ignore it. */
void short_runs_ask(void);

/* Takes that back: until it asks again, the thread interrupts no other
 * (sched(7), SCHED_BATCH). */
void short_runs_give_up(void);

#endif
