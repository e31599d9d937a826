/*
 * loop - an event loop, whose tables grow without leaving holes.
 *
 * In each loop, libev has a table with 16 bytes for each descriptor up to the
 * highest one, and doubles the table when it is full. On the heap, the old
 * tables would stay as holes, which would add a tenth to the memory of each
 * idle connection. So each large block is a mapping of its own, which the
 * kernel can enlarge without copying it (mremap).
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
