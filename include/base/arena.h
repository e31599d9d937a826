/*
 * arena - memory that is all freed at once.
 *
 * An arena holds objects that live together, such as those of a configuration.
 * No object in it is freed on its own.
 *
 * Thread: one thread at a time.
 * Owns:   all memory taken from it.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/bytes.h"

struct arena_block;

/* A zeroed arena is empty. */
struct arena {
    struct arena_block *last; /* private */
};

/* Takes zeroed bytes, aligned for any type. Returns NULL if there is no
 * memory. */
MUST_USE void *arena_take(struct arena *arena, size_t bytes);

/* Takes a copy of `text` and adds a NUL. Returns NULL if there is no memory. */
MUST_USE char *arena_text(struct arena *arena, struct bytes text);

/* Makes room for one more element in `array`, which has `count` elements of
 * `size` bytes. Such an array always has room up to the next power of two, so
 * it is full if `count` is 0 or a power of two. Returns the array itself; or,
 * if it is full, a copy with twice the room. Returns NULL, with the array
 * unchanged, if there is no memory. */
MUST_USE void *arena_grow(struct arena *arena, void *array, size_t count,
                          size_t size);

/* Frees all memory of the arena, which is then empty. */
void arena_fini(struct arena *arena);

#endif
