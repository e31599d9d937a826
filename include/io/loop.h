/*
 * loop - an event loop, whose tables grow without leaving holes.
 *
 * libev has a row of 16 bytes for each descriptor up to the highest one, in
 * each loop, and doubles that table when it is full. On the heap the old tables
 * stay as holes, which were a tenth of what an idle connection costs: so large
 * blocks are mappings of their own, which the kernel moves by their page
 * tables.
 *
 * Thread: any.
 */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include "base/bytes.h"

struct ev_loop;

enum { LOOP_MAPPED_BYTES = 16384 /* a block of so many is a mapping */ };

/* Destroyed by ev_loop_destroy(). NULL: no memory, or no descriptors. */
MUST_USE struct ev_loop *loop_create(void);

/* realloc(), for libev; bytes 0 frees. */
void *loop_reallocate(void *block, long bytes);

#endif
