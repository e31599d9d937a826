
#include "suite.h"

#include "base/pool.h"

enum { BLOCK_BYTES = 48, KEPT_MAX = 4, BLOCKS = 9 };

TEST(the_last_given_block_is_taken_first)
{
    struct pool pool;
    void *first, *second;

    pool_init(&pool, BLOCK_BYTES, KEPT_MAX);
    first = pool_take(&pool);
    second = pool_take(&pool);
    assert_non_null(first);
    assert_non_null(second);
    pool_give(&pool, first);
    pool_give(&pool, second);
    assert_ptr_equal(pool_take(&pool), second);
    assert_ptr_equal(pool_take(&pool), first);
    pool_give(&pool, first);
    pool_give(&pool, second);
    pool_fini(&pool);
}

TEST(no_more_than_its_maximum_is_kept)
{
    void *blocks[BLOCKS];
    struct pool pool;

    pool_init(&pool, BLOCK_BYTES, KEPT_MAX);
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i] = pool_take(&pool);
        assert_non_null(blocks[i]);
        memset(blocks[i], (int)i, BLOCK_BYTES);
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        pool_give(&pool, blocks[i]);
        assert_int_equal(pool.free_count, i < KEPT_MAX ? i + 1 : KEPT_MAX);
    }
    pool_fini(&pool);
    assert_int_equal(pool.free_count, 0);
}

TEST(a_pool_that_was_emptied_can_be_used_again)
{
    struct pool pool;
    void *block;

    pool_init(&pool, BLOCK_BYTES, KEPT_MAX);
    pool_give(&pool, pool_take(&pool));
    pool_fini(&pool);
    block = pool_take(&pool);
    assert_non_null(block);
    memset(block, 1, BLOCK_BYTES);
    pool_give(&pool, block);
    pool_give(&pool, NULL);
    assert_int_equal(pool.free_count, 1);
    pool_fini(&pool);
}
