/* link: -Wl,--wrap=getrlimit,--wrap=setrlimit */
#include "process/limits.h"

#include <sys/resource.h>

#include "suite.h"
#include "wrap.h"

static rlim_t granted;

WRAP(int, getrlimit, int resource, struct rlimit *limit)
{
    assert_int_equal(resource, RLIMIT_NOFILE);
    *limit = (struct rlimit){.rlim_cur = granted / 2, .rlim_max = granted};
    return 0;
}

WRAP(int, setrlimit, int resource, const struct rlimit *limit)
{
    assert_int_equal(resource, RLIMIT_NOFILE);
    assert_int_equal(limit->rlim_cur, granted);
    return 0;
}

/* However many there are, they are enough for what is planned. */
TEST(descriptors_suffice_for_all_that_is_planned)
{
    static const rlim_t grants[] = {64,   100,   256,     1024,
                                    4096, 65536, 1048576, RLIM_INFINITY};
    struct limits limits;

    for (size_t i = 0; i < sizeof(grants) / sizeof(*grants); i++) {
        for (size_t workers = 1; workers <= 64; workers *= 4) {
            size_t there = grants[i] < 1 << 20 ? (size_t)grants[i] : 1 << 20;

            granted = grants[i];
            if (limits_plan(&limits, workers, 1, 0, true) != 0)
                continue;
            assert_true(limits.connections_max > 0);
            /* Those to the servers behind take as many as clients. */
            assert_true(workers *
                                (limits.cached_fds_max + 2 * limits.pipes_max) +
                            2 * limits.connections_max <=
                        there);
        }
    }
}

TEST(pipes_are_an_eighth_and_not_without_limit)
{
    struct limits limits;
    size_t without;

    granted = 1024;
    assert_int_equal(limits_plan(&limits, 2, 2, 0, true), 0);
    assert_in_range(2 * 2 * limits.pipes_max, 1024 / 10, 1024 / 8);
    granted = 1 << 20;
    assert_int_equal(limits_plan(&limits, 2, 2, 0, true), 0);
    assert_int_equal(limits.pipes_max, 256);
    /* Nobody makes room for them where there are no proxies yet. */
    assert_int_equal(limits_plan(&limits, 2, 2, 0, false), 0);
    without = limits.connections_max;
    assert_in_range(without, (1 << 20) / 4 * 3 - 100, (1 << 20) / 4 * 3);
    assert_int_equal(limits.pipes_max, 256);
}

TEST(too_few_are_refused)
{
    struct limits limits;

    granted = 30;
    assert_int_equal(limits_plan(&limits, 2, 2, 0, false), -EMFILE);
    granted = 40;
    assert_int_equal(limits_plan(&limits, 2, 2, 0, true), -EMFILE);
}
