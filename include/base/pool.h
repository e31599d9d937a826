/*
 * pool - blocks of one size that are used again, the last given back first.
 *
 * A busy worker touches the same few blocks, which are warm in its caches.
 * Blocks beyond kept_max go back to the system. Under the address sanitizer a
 * free block is poisoned, so that its use is told as if it had been freed.
 *
 * Thread: one at a time.
 * Owns:   the free blocks; those that were taken are their takers'.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/bytes.h"

struct pool_block; /* opaque */

struct pool {
    struct pool_block *free; /* private, as all below */
    size_t free_count;
    size_t kept_max;
    size_t block_bytes;
};

/* block_bytes: at least that of a pointer. */
void pool_init(struct pool *pool, size_t block_bytes, size_t kept_max);

/* Frees what is free. The pool may be used again. */
void pool_fini(struct pool *pool);

/* A block of undefined content, aligned as malloc() does. NULL: no memory. */
MUST_USE void *pool_take(struct pool *pool);

/* NULL is accepted. */
void pool_give(struct pool *pool, void *block);

#endif
