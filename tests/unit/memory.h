/*
 * memory - how many allocations succeed before there is no memory left. Of
 * malloc() and its like those are played that a program names in
 * `link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc`.
 *
 * Thread: any.
 */
#ifndef UNIT_MEMORY_H
#define UNIT_MEMORY_H

#include <stdbool.h>

extern _Atomic long allocations_left; /* negative: any number */
extern _Atomic bool fails_once;       /* afterwards there is memory again */
extern _Atomic unsigned allocations;  /* asked for */
extern _Atomic unsigned allocation_failures; /* refused */

#endif
