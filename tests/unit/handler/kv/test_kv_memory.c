#include "handler/kv/kv_memory.h"
#include "suite.h"

static struct kv_memory memory;

static void begin(uint64_t max, uint64_t each)
{
    memory = (struct kv_memory){.max = max, .each = each};
}

TEST(what_is_left_of_one_address_is_for_others)
{
    begin(100, 75);
    assert_true(kv_memory_take(&memory, 7, 50));
    assert_false(kv_memory_take(&memory, 7, 26));
    assert_true(kv_memory_take(&memory, 7, 25));
    assert_false(kv_memory_take(&memory, 7, 1));
    assert_true(kv_memory_take(&memory, 8, 20));
    assert_false(kv_memory_take(&memory, 9, 6));
    assert_true(kv_memory_take(&memory, 9, 5));
    kv_memory_give(&memory, 7, 50);
    assert_true(kv_memory_take(&memory, 9, 50));
    kv_memory_give(&memory, 7, 25);
    kv_memory_give(&memory, 8, 20);
    kv_memory_give(&memory, 9, 55);
    assert_int_equal(memory.taken, 0);
    for (size_t i = 0; i < KV_MEMORY_PLACES; i++)
        assert_int_equal(memory.held[i], 0);
}

TEST(what_is_refused_is_not_counted)
{
    begin(100, 75);
    assert_true(kv_memory_take(&memory, 7, 75));
    for (int i = 0; i < 3; i++)
        assert_false(kv_memory_take(&memory, 8, 26));
    assert_true(kv_memory_take(&memory, 8, 25));
    assert_false(kv_memory_take(&memory, 8, UINT64_MAX));
    assert_int_equal(memory.taken, 100);
}

TEST(without_a_share_one_may_have_all)
{
    begin(100, 0);
    assert_true(kv_memory_take(&memory, 7, 100));
    assert_false(kv_memory_take(&memory, 7, 1));
    assert_true(kv_memory_take(&memory, 7, 0));
}
