#include "observe/stats_http2.h"

static const char *const events[STATS_HTTP2_EVENT_COUNT] = {
    [STATS_HTTP2_CONNECTIONS] = "connections",
    [STATS_HTTP2_STREAMS] = "streams",
    [STATS_HTTP2_RESET_BY_CLIENT] = "reset_by_client",
    [STATS_HTTP2_RESET_BY_SERVER] = "reset_by_server",
};
static const char *const abuses[STATS_HTTP2_ABUSE_COUNT] = {
    [STATS_HTTP2_HEADERS] = "headers",
    [STATS_HTTP2_CONTINUATION] = "continuation",
    [STATS_HTTP2_RESETS] = "resets",
    [STATS_HTTP2_SETTINGS] = "settings",
    [STATS_HTTP2_PINGS] = "pings",
    [STATS_HTTP2_PRIORITIES] = "priorities",
    [STATS_HTTP2_WINDOWS] = "windows",
    [STATS_HTTP2_SMALL_WINDOWS] = "small_windows",
    [STATS_HTTP2_EMPTY_FRAMES] = "empty_frames",
    [STATS_HTTP2_UNKNOWN_FRAMES] = "unknown_frames",
    [STATS_HTTP2_OVERHEAD] = "overhead",
    [STATS_HTTP2_UNREAD] = "unread",
    [STATS_HTTP2_STREAMS_OVER] = "streams",
    [STATS_HTTP2_MEMORY] = "memory",
    [STATS_HTTP2_SLOW] = "slow",
};

void stats_http2_add(struct stats_http2_sums *sums,
                     const struct stats_http2 *http2)
{
    for (unsigned i = 0; i < STATS_HTTP2_EVENT_COUNT; i++)
        sums->events[i] += counter_read(&http2->events[i]);
    for (unsigned i = 0; i < STATS_HTTP2_ABUSE_COUNT; i++)
        sums->abuses[i] += counter_read(&http2->abuses[i]);
}

bool stats_http2_is_used(const struct stats_http2_sums *sums)
{
    return sums->events[STATS_HTTP2_CONNECTIONS] > 0;
}

const char *stats_http2_event_name(unsigned number)
{
    return number < STATS_HTTP2_EVENT_COUNT ? events[number] : NULL;
}

const char *stats_http2_abuse_name(unsigned number)
{
    return number < STATS_HTTP2_ABUSE_COUNT ? abuses[number] : NULL;
}
