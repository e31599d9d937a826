/*
 * pool - blocks of one size that are used again, the last given back first.
 *
 * A busy worker touches the same few blocks, which are warm in its caches.
 * Blocks beyond kept_max go back to the system. Under the address sanitizer a
 * free block is poisoned, so that a use is reported as one of freed memory.
 *
 * Thread: one at a time.
 * Owns:   the free blocks; those that were taken are their takers'.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdlib.h>

#include "base/bytes.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Lies at the beginning of a block while that is free. */
struct pool_block {
    struct pool_block *next;
};

struct pool {
    struct pool_block *free; /* private, as all below */
    size_t free_count;
    size_t kept_max;
    size_t block_bytes;
};

/* block_bytes: at least a pointer's size. */
void pool_init(struct pool *pool, size_t block_bytes, size_t kept_max);

/* Frees what is free. The pool may be used again. */
void pool_fini(struct pool *pool);

#ifndef __SANITIZE_ADDRESS__
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

/* A block of undefined content, aligned as malloc() does. NULL: no memory. */
MUST_USE static inline void *pool_take(struct pool *pool)
{
    struct pool_block *block = pool->free;

    if (!block)
        return malloc(pool->block_bytes);
    ASAN_UNPOISON_MEMORY_REGION(block, pool->block_bytes);
    pool->free = block->next;
    pool->free_count--;
    return block;
}

/* NULL is accepted. */
static inline void pool_give(struct pool *pool, void *block)
{
    struct pool_block *freed = block;

    if (!freed)
        return;
    if (pool->free_count == pool->kept_max) {
        free(freed);
        return;
    }
    freed->next = pool->free;
    pool->free = freed;
    pool->free_count++;
    ASAN_POISON_MEMORY_REGION(freed, pool->block_bytes);
}

#endif
