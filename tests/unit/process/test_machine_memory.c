#include "process/machine_memory.h"

#include "suite.h"
#include "unit/place.h"

static void make_folder(const char *name)
{
    assert_int_equal(mkdirat(test_place.fd, name, 0755), 0);
}

static uint64_t limit_of(const char *groups)
{
    assert_int_equal(place_write(&test_place, "groups", groups), 0);
    return machine_memory_group_limit(place_path(&test_place, "groups"),
                                      test_place.name);
}

TEST(the_least_limit_on_the_way_up_counts)
{
    make_folder("a");
    make_folder("a/b");
    assert_true(limit_of("0::/a/b\n") == UINT64_MAX);
    assert_int_equal(place_write(&test_place, "a/b/memory.max", "max\n"), 0);
    assert_true(limit_of("0::/a/b\n") == UINT64_MAX);
    assert_int_equal(place_write(&test_place, "a/memory.max", "2000\n"), 0);
    assert_true(limit_of("0::/a/b\n") == 2000);
    assert_int_equal(place_write(&test_place, "a/b/memory.max", "3000"), 0);
    assert_true(limit_of("0::/a/b\n") == 2000);
    assert_true(limit_of("0::/a/b") == 2000);
    /* A container sees its own group where all of them lie. */
    assert_int_equal(place_write(&test_place, "memory.max", "1000\n"), 0);
    assert_true(limit_of("0::/\n") == 1000);
    assert_true(limit_of("0::/../../x\n") == 1000);
    assert_true(limit_of("0::/nowhere/to/be/found\n") == 1000);
}

TEST(groups_of_version_one_count_too)
{
    make_folder("memory");
    make_folder("memory/a");
    assert_int_equal(place_write(&test_place, "memory/a/memory.limit_in_bytes",
                                 "4096\n"),
                     0);
    assert_true(limit_of("2:cpu,cpuacct:/a\n7:memory:/a\n") == 4096);
    assert_true(limit_of("2:cpu:/a\n") == UINT64_MAX);
}

TEST(what_cannot_be_understood_limits_nothing)
{
    static const char *const texts[] = {
        "", "\n\n", "0", "0:", "::", "0::", "no group at all"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_true(limit_of(texts[i]) == UINT64_MAX);
    assert_true(machine_memory_group_limit("/nowhere", "/nowhere") ==
                UINT64_MAX);
}

TEST(there_is_some)
{
    assert_true(machine_memory() >= UINT64_C(1) << 20);
    assert_true(machine_memory() < UINT64_MAX);
}

SUITE(.each_begin = place_begin, .each_end = place_end);
