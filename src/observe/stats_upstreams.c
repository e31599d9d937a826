#include "observe/stats_upstreams.h"

const char *stats_upstream_state_name(enum stats_upstream_state state)
{
    static const char *const names[STATS_UPSTREAM_STATE_COUNT] = {
        [STATS_UPSTREAM_UP] = "up",
        [STATS_UPSTREAM_SLOW] = "slow",
        [STATS_UPSTREAM_EJECTED] = "ejected",
        [STATS_UPSTREAM_DOWN] = "down"};

    return names[state];
}
