/*
 * pool - reuses blocks of one size, the most recently freed one first.
 *
 * So a busy worker keeps touching the same few blocks, which are in the CPU's
 * caches. When kept_max blocks are free, further ones go back to the system.
 * With the address sanitizer, a free block is poisoned, so that its use is
 * reported as a use after free.
 *
 * Thread: one thread at a time.
 * Owns:   the free blocks; a block that was taken belongs to its taker.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdlib.h>

#include "base/bytes.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Lies at the beginning of each free block. */
struct pool_block {
    struct pool_block *next;
};

struct pool {
    struct pool_block *free; /* private, like all fields below */
    size_t free_count;
    size_t kept_max;
    size_t block_bytes;
};

/* block_bytes is at least the size of a pointer. */
void pool_init(struct pool *pool, size_t block_bytes, size_t kept_max);

/* Frees the free blocks. The pool may be used again. */
void pool_fini(struct pool *pool);

#ifndef __SANITIZE_ADDRESS__
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

/* Takes a block of undefined content, aligned as by malloc(). Returns NULL if
 * there is no memory. */
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

/* Gives a block back. NULL is accepted. */
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
