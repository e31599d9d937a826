/*
 * arena - memory that is given back in one stroke.
 *
 * For what is made once and lives together, such as a configuration: nothing
 * in it is freed by itself.
 *
 * Thread: one at a time.
 * Owns:   all that was taken from it.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/bytes.h"

struct arena_block;

/* A zeroed arena is empty. */
struct arena {
    struct arena_block *last; /* private */
};

/* Takes zeroed bytes, aligned for anything. NULL: no memory. */
MUST_USE void *arena_take(struct arena *arena, size_t bytes);

/* Takes a copy of text that ends in NUL. NULL: no memory. */
MUST_USE char *arena_text(struct arena *arena, struct bytes text);

/* Room for one more of size bytes behind count that are there: the array, or
 * a longer copy of it; NULL: no memory, the old one is as it was. An array
 * grows in powers of two, and only where it is full. */
MUST_USE void *arena_grow(struct arena *arena, void *array, size_t count,
                          size_t size);

/* Gives all back; the arena is empty then. */
void arena_fini(struct arena *arena);

#endif
