#include "process/spare_memory.h"

#include "suite.h"

static unsigned count_given(const uint64_t *open, size_t count)
{
    struct spare_memory spare = {0};
    unsigned given = 0;

    for (size_t i = 0; i < count; i++)
        given += spare_memory_note(&spare, open[i]);
    return given;
}

#define GIVEN(...)                               \
    count_given((const uint64_t[]){__VA_ARGS__}, \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

TEST(memory_is_given_back_when_most_of_a_crowd_have_gone)
{
    assert_int_equal(GIVEN(0, 1000, 250), 1);
    assert_int_equal(GIVEN(0, 10000, 0), 1);
    assert_int_equal(GIVEN(500, 5000, 4000, 2000, 1000), 1);
}

TEST(few_are_no_crowd)
{
    assert_int_equal(GIVEN(0, 999, 0, 999, 0), 0);
}

TEST(it_is_not_given_back_while_many_are_there)
{
    assert_int_equal(GIVEN(0, 1000, 251, 1000, 251), 0);
    assert_int_equal(GIVEN(10000, 2501, 9000, 2501), 0);
}

TEST(it_is_given_back_once_for_each_crowd)
{
    assert_int_equal(GIVEN(2000, 100, 100, 0, 100, 0), 1);
    assert_int_equal(GIVEN(2000, 0, 2000, 0, 2000, 0), 3);
    /* What is left of a large one may be a crowd, too. */
    assert_int_equal(GIVEN(16000, 4000, 1000, 0), 3);
}
