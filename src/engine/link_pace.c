/*
 * The token bucket: busy_ns says until when what has been handed over keeps
 * the link busy at the pace that is kept. Of a known rate the pace is a little
 * less than that; of one that is found out it follows what is seen: no queue
 * left while bytes are held back here, and the link could carry more; a queue
 * all the time, and it carries less. So it goes up slowly, from there down at
 * once, and stays just below the link's rate, where queues are short. (Chiu,
 * Jain, "Analysis of the increase and decrease algorithms for congestion
 * avoidance", 1989.)
 */
#include "base/units.h"
#include "engine/link_priv.h"

enum {
    WINDOW_NS = 20 * NS_PER_MS, /* over which it is judged */
    GAP_NS = 5 * NS_PER_MS,     /* without anything held: begin anew */
    WINDOWS_FIRST = 4,          /* seen before a pace is kept */
    STANDING_BYTES = 6144,      /* two segments, as the kernel counts them */
    UP_SHARE = 512,             /* of the pace, in a window */
    DOWN_SHARE = 32,
    FAR_SHARE = 4,       /* so far above what leaves: down at once */
    STEADY_WINDOWS = 64, /* up in a row; then quicker and quicker, */
    QUICKER_MAX = 5      /* up to 2^5 times */
};

uint64_t link_pace_burst(uint64_t pace)
{
    uint64_t bytes = pace / (NS_PER_S / (2 * LINK_TICK_NS));

    return bytes > LINK_BURST_BYTES ? bytes : LINK_BURST_BYTES;
}

uint64_t link_pace_allow(struct link *link, uint64_t key, uint64_t want)
{
    const struct link_shared *shared = link->shared;
    uint64_t pace = link_load(&shared->pace);
    uint64_t burst = link_pace_burst(pace);
    uint64_t busy_ns;
    uint64_t now_ns;
    uint64_t owed = 0;

    if (pace == 0)
        return want;
    busy_ns = link_load(&shared->busy_ns);
    now_ns = now_read_ns();
    if (busy_ns > now_ns)
        owed = (busy_ns - now_ns) * pace / NS_PER_S;
    /* Somebody else's turn, unless the link would run dry. */
    want = owed > burst / 4 && !link_ask_others(link, key, now_ns).is_after
               ? 0
               : link_room(burst, owed, want);
    if (want == 0)
        link->was_paced = true;
    return want;
}

void link_pace_pay(struct link *link, uint64_t wire_bytes)
{
    struct link_shared *shared = link->shared;
    uint64_t pace = link_load(&shared->pace);
    uint64_t busy_ns = link_load(&shared->busy_ns);
    uint64_t now_ns;

    link->handed += wire_bytes;
    if (pace == 0)
        return;
    now_ns = now_read_ns();
    while (!atomic_compare_exchange_weak_explicit(
        &shared->busy_ns, &busy_ns,
        (busy_ns > now_ns ? busy_ns : now_ns) + wire_bytes * NS_PER_S / pace,
        memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Below a pace that leaves a queue all the time. The link was busy, so what
 * has left is its rate, as far as that can be told: below it the queue gets
 * shorter, and there is no use in going further down meanwhile. */
static uint64_t move_down(uint64_t pace, uint64_t seen)
{
    uint64_t enough = seen - seen / DOWN_SHARE;

    if (pace > seen + seen / FAR_SHARE)
        return seen;
    if (pace <= enough)
        return pace;
    pace -= pace / DOWN_SHARE;
    return pace > enough ? pace : enough;
}

/* The next pace, after a window in which so many bytes a second have left. */
static uint64_t move(struct link_shared *shared, uint64_t pace, uint64_t seen)
{
    uint64_t rises = link_load(&shared->rises) + 1;
    uint64_t up = pace / UP_SHARE;

    if (pace == 0) { /* the most that was seen to leave */
        if (seen > link_load(&shared->rate))
            link_store(&shared->rate, seen);
        link_store(&shared->rises, rises);
        return rises < WINDOWS_FIRST ? 0 : link_load(&shared->rate);
    }
    if (link_load(&shared->least) >= STANDING_BYTES) {
        link_store(&shared->rises, 0);
        return move_down(pace, seen);
    }
    if (!link_load(&shared->paced))
        return pace; /* something else kept the queue short */
    link_store(&shared->rises, rises);
    if (rises > STEADY_WINDOWS)
        up <<= rises - STEADY_WINDOWS < QUICKER_MAX ? rises - STEADY_WINDOWS
                                                    : QUICKER_MAX;
    return pace + up;
}

void link_pace_adapt(struct link *link, uint64_t queued, uint64_t now_ns)
{
    struct link_shared *shared = link->shared;
    uint64_t last_ns = link_load(&shared->judged_ns);
    uint64_t since_ns = link_load(&shared->since_ns);
    uint64_t left;
    bool was_gap;
    int64_t more;

    if (queued < link_load(&shared->least))
        link_store(&shared->least, queued);
    if (link->was_paced)
        link_store(&shared->paced, true);
    link_store(&shared->judged_ns, now_ns);
    was_gap = link_has_passed(now_ns, last_ns, GAP_NS);
    if (!was_gap && !link_may_move(&shared->since_ns, now_ns, WINDOW_NS))
        return;
    left = link->handed + link_ask_others(link, 0, now_ns).handed - queued;
    more = (int64_t)(left - link_load(&shared->left));
    if (!was_gap && more > 0)
        link_store(&shared->pace, move(shared, link_load(&shared->pace),
                                       (uint64_t)more * (NS_PER_S / 1000) /
                                           ((now_ns - since_ns) / 1000)));
    link_store(&shared->since_ns, now_ns);
    link_store(&shared->left, left);
    link_store(&shared->least, UINT64_MAX);
    link_store(&shared->paced, false);
}
