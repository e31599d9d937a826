/*
 * draws - numbers that simulations draw: the same for one seed, everywhere
 * (Marsaglia's xorshift; the sizes by a bounded Pareto law).
 *
 * Thread: one.
 */
#ifndef BENCH_DRAWS_H
#define BENCH_DRAWS_H

#include <stdint.h>

extern uint64_t draw_seed; /* not 0 */

/* At least 0, and below 1. */
double draw(void);

/* By the normal law, of mean 0 and deviation 1. */
double draw_normal(void);

/* The bytes of a file: 1 KiB to 10 MiB, most of them small. */
double draw_pareto(void);

#endif
