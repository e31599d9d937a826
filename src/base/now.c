#include "base/now.h"

#include <time.h>

void now_refresh(struct now *now)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    now->mono_ms = (uint64_t)time.tv_sec * 1000 +
                   (uint64_t)time.tv_nsec / 1000000;
    clock_gettime(CLOCK_REALTIME_COARSE, &time);
    now->wall_s = time.tv_sec;
    now->wall_ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
