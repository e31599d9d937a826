/*
 * short_runs - gets a CPU sooner for a thread that needs the CPU only briefly.
 *
 * On a CPU that a worker keeps busy, the kernel runs another thread only after
 * the worker's slice, which may last some milliseconds. A thread that declares
 * its runs as short (Linux 6.12 and later) is run sooner, but does not get more
 * of the CPU.
 *
 * Thread: any; a call affects the calling thread.
 */
#ifndef PROCESS_SHORT_RUNS_H
#define PROCESS_SHORT_RUNS_H

/* Declares the calling thread's runs as short. Older kernels ignore the
 * declaration. */
void short_runs_ask(void);

/* Takes the declaration back. Until the next short_runs_ask(), the thread
 * interrupts no other thread (sched(7), SCHED_BATCH). */
void short_runs_give_up(void);

#endif
