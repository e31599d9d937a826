/* link: -Wl,--wrap=clock_gettime */
#include "base/now.h"

#include <time.h>

#include "suite.h"
#include "wrap.h"

static bool is_played;
static struct timespec mono, wall;
static clockid_t asked[2];
static int asked_count;

WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)
{
    if (!is_played)
        return __real_clock_gettime(clock, time);
    assert_in_range(asked_count, 0, 1);
    asked[asked_count++] = clock;
    *time = clock == CLOCK_REALTIME_COARSE ? wall : mono;
    return 0;
}

static struct now refreshed(void)
{
    struct now now;

    asked_count = 0;
    is_played = true;
    now_refresh(&now);
    is_played = false;
    return now;
}

TEST(monotonic_time_is_in_milliseconds)
{
    struct now now;

    mono = (struct timespec){12, 345678901};
    now = refreshed();
    assert_int_equal(now.mono_ms, 12345);
    mono = (struct timespec){0, 999999};
    now = refreshed();
    assert_int_equal(now.mono_ms, 0);
    mono = (struct timespec){(time_t)1 << 40, 1000000};
    now = refreshed();
    assert_int_equal(now.mono_ms, ((uint64_t)1 << 40) * 1000 + 1);
}

TEST(the_wall_tells_seconds_and_nanoseconds)
{
    struct now now;

    wall = (struct timespec){784111777, 999999999};
    now = refreshed();
    assert_int_equal(now.wall_s, 784111777);
    assert_int_equal(now.wall_ns, INT64_C(784111777999999999));
}

TEST(a_clock_before_the_epoch_is_believed)
{
    struct now now;

    wall = (struct timespec){-2, 500000000};
    now = refreshed();
    assert_int_equal(now.wall_s, -2);
    assert_int_equal(now.wall_ns, -1500000000);
}

TEST(only_coarse_clocks_are_read)
{
    refreshed();
    assert_int_equal(asked_count, 2);
    for (int i = 0; i < asked_count; i++)
        assert_true(asked[i] == CLOCK_MONOTONIC_COARSE ||
                    asked[i] == CLOCK_REALTIME_COARSE);
    assert_int_not_equal(asked[0], asked[1]);
}

TEST(the_real_clocks_go_on)
{
    struct now before, after;

    now_refresh(&before);
    now_refresh(&after);
    assert_true(after.mono_ms >= before.mono_ms);
    assert_true(before.wall_s > 1700000000); /* November 2023 */
    assert_int_equal(before.wall_ns / 1000000000, before.wall_s);
}
