#include "base/now.h"

#include <time.h>

#include "base/units.h"

uint64_t now_read_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

void now_refresh(struct now *now)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    now->mono_ms = (uint64_t)time.tv_sec * MS_PER_S +
                   (uint64_t)time.tv_nsec / NS_PER_MS;
    clock_gettime(CLOCK_REALTIME_COARSE, &time);
    now->wall_s = time.tv_sec;
    now->wall_ns = (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}
