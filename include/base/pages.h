/*
 * pages - zeroed memory straight from the kernel, for large tables of which
 * little is used: a page takes memory only after it is first touched.
 *
 * calloc() is unsuitable, since it clears reused memory of the heap by writing,
 * which touches all pages. Huge pages are unsuitable, too, since each is
 * touched as a whole.
 *
 * Thread: any.
 * Owns:   nothing.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#include "base/bytes.h"

/* Takes `bytes` bytes of memory, at least 1, that begin at a page. Returns NULL
 * if there is no memory. */
MUST_USE void *pages_open(size_t bytes);

/* Gives the pages back. `bytes` is as for pages_open(); `pages` may be NULL. */
void pages_close(void *pages, size_t bytes);

/* Zeroes all pages, so that they take no memory until they are touched
 * again. */
void pages_clear(void *pages, size_t bytes);

#endif
