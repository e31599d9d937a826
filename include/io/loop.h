/*
 * loop - an event loop, whose tables grow without leaving holes.
 *
 * In each loop, libev has a table with 16 bytes for each descriptor up to the
 * highest one, and doubles the table when it is full. On the heap the old
 * tables stay as holes, which were a tenth of what an idle connection costs. So
 * large blocks are mappings of their own, which the kernel moves by their page
 * tables.
 *
 * Thread: any.
 */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include "base/bytes.h"

struct ev_loop;

enum { LOOP_MAPPED_BYTES = 16384 /* smallest block that is a mapping */ };

/* Makes a loop, to be destroyed by ev_loop_destroy(). Returns NULL when memory
 * or descriptors are short. */
MUST_USE struct ev_loop *loop_create(void);

/* Does for libev what realloc() does; 0 bytes free the block. */
void *loop_reallocate(void *block, long bytes);

#endif
