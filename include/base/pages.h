/*
 * pages - zeroed memory straight from the kernel, for tables that are made
 * large and used little: a page takes memory once it is touched, and not
 * before.
 *
 * calloc() is no good for these: what it finds inside of the heap it clears
 * itself, and so touches all of it. Nor are huge pages, which are touched as a
 * whole.
 *
 * Thread: any.
 * Owns:   nothing.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#include "base/bytes.h"

/* Takes so many bytes, 1 at least, from a page's beginning. NULL: no memory. */
MUST_USE void *pages_open(size_t bytes);

/* bytes is as for pages_open(). NULL is accepted. */
void pages_close(void *pages, size_t bytes);

/* Makes all of them zero again, so that they take no memory. */
void pages_clear(void *pages, size_t bytes);

#endif
