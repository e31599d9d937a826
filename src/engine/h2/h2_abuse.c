#include "engine/h2/h2_priv.h"

/*
 * A budget is a bucket that leaks: so many at once, and so many a second in the
 * long run. What a frame costs its sender is far less than what it costs here,
 * so these are the frames that carry nothing of an exchange. The numbers are
 * several times what browsers, curl and h2load at full speed were seen to need.
 */
enum {
    UNIT = 1024,
    /* Whoever has used up such a part of a budget is read more slowly, where
     * others want something, too. */
    COSTLY_PART = 8
};

static const struct {
    uint32_t burst;
    uint32_t per_second;
} rules[STATS_HTTP2_ABUSE_COUNT] = {
    /* Streams that are given up, by the client, or by us because of something
     * that it did (CVE-2023-44487, CVE-2025-8671). */
    [STATS_HTTP2_RESETS] = {400, 40},
    [STATS_HTTP2_SETTINGS] = {32, 2},
    [STATS_HTTP2_PINGS] = {100, 10},
    [STATS_HTTP2_PRIORITIES] = {1000, 200},
    /* Beyond those for what the client has got: h2_take_window(). */
    [STATS_HTTP2_WINDOWS] = {2000, 200},
    [STATS_HTTP2_SMALL_WINDOWS] = {500, 50},
    [STATS_HTTP2_EMPTY_FRAMES] = {64, 8},
    [STATS_HTTP2_UNKNOWN_FRAMES] = {100, 10},
    [STATS_HTTP2_STREAMS_OVER] = {400, 40},
    [STATS_HTTP2_MEMORY] = {400, 40},
};

enum {
    /* Bytes of all frames, and how many of them may carry nothing. */
    OVERHEAD_FREE = 1048576,
    OVERHEAD_SHARE = 8
};

/* It is costly until the bucket has leaked to the part that is free. */
static void note_cost(struct h2 *h2, enum stats_http2_abuse kind)
{
    uint32_t level = h2->budgets[kind].level;
    uint32_t free = rules[kind].burst * UNIT / COSTLY_PART;
    uint64_t until_ms;

    h2->charged++;
    if (level <= free)
        return;
    until_ms = h2_now_ms(h2) +
               (uint64_t)(level - free) * 1000 / UNIT / rules[kind].per_second;
    if (h2->costly_until_ms < until_ms)
        h2->costly_until_ms = until_ms;
}

bool h2_spend(struct h2 *h2, enum stats_http2_abuse kind)
{
    struct h2_budget *budget = &h2->budgets[kind];
    uint32_t now_ms = (uint32_t)h2_now_ms(h2);
    uint64_t leaked = (uint64_t)(now_ms - budget->since_ms) *
                      rules[kind].per_second * UNIT / 1000;

    budget->since_ms = now_ms;
    budget->level = leaked < budget->level ? budget->level - (uint32_t)leaked
                                           : 0;
    budget->level += UNIT;
    note_cost(h2, kind);
    if (budget->level <= rules[kind].burst * UNIT)
        return true;
    h2_lose_calm(h2, kind);
    return false;
}

bool h2_is_worth_it(struct h2 *h2)
{
    uint64_t all = h2->bytes_in + h2->bytes_out;

    if (all / OVERHEAD_SHARE <= h2->payload + OVERHEAD_FREE)
        return true;
    h2_lose_calm(h2, STATS_HTTP2_OVERHEAD);
    return false;
}
