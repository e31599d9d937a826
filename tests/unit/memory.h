/*
 * memory - how many allocations succeed before there is no memory left. Of
 * malloc() and its like those are played that a program names in
 * `link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc`,
 * and of pages that with `--wrap=pages_open`.
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
extern _Atomic unsigned long pages_bytes;    /* opened, closed ones too */

#endif
