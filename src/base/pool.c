#include "base/pool.h"

#include <assert.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

/* Lies at the beginning of a block while that is free. */
struct pool_block {
    struct pool_block *next;
};

void pool_init(struct pool *pool, size_t block_bytes, size_t kept_max)
{
    assert(block_bytes >= sizeof(struct pool_block));
    *pool = (struct pool){.block_bytes = block_bytes, .kept_max = kept_max};
}

static void *take_free(struct pool *pool)
{
    struct pool_block *block = pool->free;

    ASAN_UNPOISON_MEMORY_REGION(block, pool->block_bytes);
    pool->free = block->next;
    pool->free_count--;
    return block;
}

void pool_fini(struct pool *pool)
{
    while (pool->free)
        free(take_free(pool));
}

void *pool_take(struct pool *pool)
{
    return pool->free ? take_free(pool) : malloc(pool->block_bytes);
}

void pool_give(struct pool *pool, void *block)
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
