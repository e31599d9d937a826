#include "base/pool.h"

#include <assert.h>

void pool_init(struct pool *pool, size_t block_bytes, size_t kept_max)
{
    assert(block_bytes >= sizeof(struct pool_block));
    *pool = (struct pool){.block_bytes = block_bytes, .kept_max = kept_max};
}

void pool_fini(struct pool *pool)
{
    while (pool->free)
        free(pool_take(pool));
}
