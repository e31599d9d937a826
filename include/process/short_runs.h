/*
 * short_runs - a thread that needs little of a CPU at a time, but soon.
 *
 * On a CPU that a worker keeps busy the kernel runs another thread only when
 * the worker has had its turn, which may take some milliseconds. A thread that
 * says that its runs are short (Linux 6.12 and later) need not wait for that,
 * and has no more of the CPU than before.
 *
 * Thread: the one that is meant.
 */
#ifndef PROCESS_SHORT_RUNS_H
#define PROCESS_SHORT_RUNS_H

/* Says so of the calling thread. Kernels that know nothing of it change
 * nothing. */
void short_runs_ask(void);

/* Takes it back: the thread lets others have their turn, and interrupts none
 * (sched(7), SCHED_BATCH), until it asks again. */
void short_runs_give_up(void);

#endif
