/*
 * The token bucket. busy_ns is the time until which the bytes handed over keep
 * the link busy at the present pace. When the link's rate is known, the pace is
 * a little less than the rate. When the rate is not known, the pace follows the
 * queue: when no queue is left while bytes are held back, the link could
 * carry more; when there is a queue all the time, the link carries less. So the
 * pace rises slowly until a queue stands, falls at once then, and stays just
 * below the link's rate, where queues are short. (Chiu, Jain, "Analysis of the
 * increase and decrease algorithms for congestion avoidance", 1989.)
 *
 * The rate is measured by the bytes that leave while the queue is never found
 * empty; at other times only as many bytes leave as come. Bytes that were
 * handed over have not left while their socket waits for acknowledgements. On a
 * slow or long link these are many times the bytes that leave in a window of
 * time. If they were counted as bytes that have left, the link would seem to be
 * a tenth as fast as it is.
 *
 * When this machine, or the hardware that carries the link, has no CPU for a
 * moment, less is sent in that window although there is a queue all the time,
 * as on a narrower link. At a load of 0.9 the pace would then be too slow for a
 * second or two, until it had crept up again. So the rate falls only a little
 * for each such window; on a link that has really become narrower, such windows
 * go on. When a queue begins to stand, a pace a little below the present one is
 * remembered as the crest. When no queue is left, the pace comes back to the
 * crest quickly, and rises slowly from there. If the link has become narrower,
 * a queue stands earlier, and sets a new crest.
 *
 * For a link further away the bucket does less: the window decides how many
 * bytes are under way, and the bucket only keeps them from leaving all at once
 * (link_window_pacer.c).
 */
#include "base/units.h"
#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    WINDOW_NS = 20 * NS_PER_MS, /* the length of a window, after which the pace
                                   is judged */
    /* A window lasts no longer than this, even if too few bytes leave to
     * measure a rate. */
    WINDOW_NS_MAX = 200 * NS_PER_MS,
    WINDOW_BYTES = 24576, /* bytes from which a rate can be measured */
    /* Unsent bytes are counted again only after this time. */
    COUNT_NS = 2 * NS_PER_MS,
    /* After this time without held-back bytes, a window begins anew. */
    GAP_NS = 5 * NS_PER_MS,
    /* How many windows come before the first pace, if there is a queue. */
    WINDOWS_FIRST = 4,
    /* How many windows come before the first pace, if there is no queue. */
    WINDOWS_LATEST = 4 * WINDOWS_FIRST,
    STANDING_BYTES = 6144, /* two segments, in the kernel's count of bytes */
    PACER_MIN = 4096,
    SMOOTH_BYTES = 98304, /* bytes over which the rate is averaged */
    /* In a window without a queue the pace rises by 1 / UP_SHARE, or by 1 /
     * UP_SHARE_FAR while it is below the crest or well below the known rate. */
    UP_SHARE = 512,
    UP_SHARE_FAR = 16,
    /* The crest is 1 / CREST_SHARE below the pace at which a queue began to
     * stand. */
    CREST_SHARE = 16,
    DOWN_SHARE = 32,
    /* A pace is far from the rate when it differs by 1 / FAR_SHARE. */
    FAR_SHARE = 4,
    /* A window lowers a known rate by 1 / FALL_SHARE at most. */
    FALL_SHARE = 8,
    /* After this many rises in a row, the pace rises more quickly. */
    STEADY_WINDOWS = 64,
    QUICKER_MAX = 5 /* at most 2^5 times as quickly */
};

uint64_t link_pacer_burst(const struct link *link, uint64_t pacer)
{
    uint64_t late_ns = link->late_ns > LINK_TICK_NS ? link->late_ns
                                                    : LINK_TICK_NS;
    uint64_t ns = LINK_TICK_NS + late_ns;
    uint64_t bytes = pacer * (ns / NS_PER_US) / US_PER_S;

    return bytes > LINK_BURST_BYTES ? bytes : LINK_BURST_BYTES;
}

uint64_t link_bucket_room(const struct link *link, struct link_bucket bucket,
                          uint64_t key, uint64_t want)
{
    uint64_t busy_ns = link_load(&link->shared->busy_ns);
    uint64_t now_ns = now_read_ns();
    uint64_t owed = 0;

    if (busy_ns > now_ns)
        owed = (busy_ns - now_ns) * bucket.pacer / NS_PER_S;
    /* Another worker's response goes first, unless the link would run dry. */
    return owed > bucket.burst / 4 &&
                   !link_ask_others(link, key, now_ns).is_after
               ? 0
               : link_room(bucket.burst, owed, want);
}

void link_bucket_pay(struct link_shared *shared, uint64_t pacer, uint64_t bytes)
{
    uint64_t busy_ns = link_load(&shared->busy_ns);
    uint64_t now_ns = now_read_ns();
    uint64_t ns = bytes * NS_PER_S / pacer;

    while (!atomic_compare_exchange_weak_explicit(
        &shared->busy_ns, &busy_ns, (busy_ns > now_ns ? busy_ns : now_ns) + ns,
        memory_order_relaxed, memory_order_relaxed))
        ;
}

uint64_t link_pacer_allow(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t pacer = link_load(&link->shared->pacer);

    if (pacer == 0)
        return want;
    want = link_bucket_room(link,
                            (struct link_bucket){pacer,
                                                 link_pacer_burst(link, pacer)},
                            key, want);
    if (want == 0)
        link->was_paced = true;
    return want;
}

void link_pacer_pay(struct link *link, uint64_t wire_bytes)
{
    uint64_t pacer = link_load(&link->shared->pacer);

    link->handed += wire_bytes;
    if (pacer > 0)
        link_bucket_pay(link->shared, pacer, wire_bytes);
}

/* Returns the next pace after a window during which there was always a queue.
 * The link was busy, so its rate is known. At a pace below the rate the queue
 * gets shorter by itself, and the pace need not fall further. */
static uint64_t move_down(uint64_t pacer, uint64_t rate)
{
    uint64_t enough = rate - rate / DOWN_SHARE;

    if (pacer > rate + rate / FAR_SHARE)
        return rate;
    if (pacer <= enough)
        return pacer;
    pacer -= pacer / DOWN_SHARE;
    return pacer > enough ? pacer : enough;
}

/* Notes that a queue has begun to stand at this pace. */
static void note_crest(struct link_shared *shared, uint64_t pacer)
{
    link_store(&shared->crest, pacer - pacer / CREST_SHARE);
}

/* Returns the next pace after a window without a queue. Up to `known` the pace
 * rises quickly, and from there slowly, but more quickly after many rises in a
 * row. */
static uint64_t move_up(uint64_t pacer, uint64_t known, uint64_t rises)
{
    uint64_t up = pacer / UP_SHARE;

    if (pacer < known) {
        up = pacer / UP_SHARE_FAR;
        return known - pacer < up ? known : pacer + up;
    }
    if (rises > STEADY_WINDOWS)
        up <<= rises - STEADY_WINDOWS < QUICKER_MAX ? rises - STEADY_WINDOWS
                                                    : QUICKER_MAX;
    return pacer + up;
}

/* The bytes that left in a window of time. */
struct window {
    uint64_t bytes;
    uint64_t seen; /* these bytes as a rate, in bytes a second */
};

/* Returns the least rate to which a window may lower the known rate, `rate`.
 * While a pace is kept, this is 1 / FALL_SHARE below `rate`. Before the first
 * pace, it is `rate` itself: somebody may have had no CPU during the window,
 * and the pace would be too low for more than a second. (Before the first pace,
 * windows of a few packets may lower the rate to any value, since they are
 * averaged.) */
static uint64_t least_rate(const struct link_shared *shared,
                           const struct window *window, uint64_t rate)
{
    if (link_load(&shared->pacer) > 0)
        return rate - rate / FALL_SHARE;
    return window->bytes < SMOOTH_BYTES ? 0 : rate;
}

/* Learns the link's rate from a window, stores the rate and returns it.
 * `was_busy` says that the link was busy during the whole window. While a pace
 * is kept, a rate is known. */
static uint64_t learn(struct link_shared *shared, const struct window *window,
                      bool was_busy)
{
    uint64_t rate = link_load(&shared->rate);
    uint64_t least = least_rate(shared, window, rate);

    if (was_busy && rate > 0 && window->bytes < SMOOTH_BYTES)
        rate = (rate * (SMOOTH_BYTES - window->bytes) +
                window->seen * window->bytes) /
               SMOOTH_BYTES;
    else if (was_busy || window->seen > rate)
        rate = window->seen;
    if (rate < least)
        rate = least;
    link_store(&shared->rate, rate);
    return rate;
}

/* Returns the pace after `window`; 0 while no pace is known yet. */
static uint64_t move(struct link_shared *shared, uint64_t pacer,
                     const struct window *window)
{
    uint64_t least = link_load(&shared->least);
    uint64_t crest = link_load(&shared->crest);
    uint64_t rises = link_load(&shared->rises) + 1;
    uint64_t rate = pacer == 0 || least > 0 ? learn(shared, window, least > 0)
                                            : link_load(&shared->rate);

    if (pacer == 0) {
        link_store(&shared->rises, rises);
        return rises < WINDOWS_FIRST || (least == 0 && rises < WINDOWS_LATEST)
                   ? 0
                   : rate;
    }
    if (least >= STANDING_BYTES) {
        if (rises > 1)
            note_crest(shared, pacer);
        link_store(&shared->rises, 0);
        return move_down(pacer, rate);
    }
    /* The pace stays if it has held nothing back, because then something else
     * kept the queue short. It also stays if far fewer bytes left than it
     * allows, because then others may have had the CPU. */
    if (!link_load(&shared->paced) || window->seen < pacer - pacer / FAR_SHARE)
        return pacer;
    link_store(&shared->rises, rises);
    rate -= rate / UP_SHARE_FAR;
    return move_up(pacer, crest > rate ? crest : rate, rises);
}

/* Counts the bytes handed over that are still unsent in sockets. If a flow
 * hands over nothing until the next count, its client may have stopped reading,
 * and the flow may be dropped (may_come()). */
static void count_unsent(struct link *link, uint64_t now_ns)
{
    link->counted_ns = now_ns;
    link->unsent = 0;
    for (struct list *at = link->flows.next; at != &link->flows;
         at = at->next) {
        struct link_flow *flow = OWNER_OF(at, struct link_flow, link);
        int unsent = socket_count_unsent((int)flow->fd);

        link->counters.measured++;
        if (unsent > 0)
            link->unsent += link_wire_bytes((uint64_t)unsent);
        flow->is_fresh = false;
    }
}

/* Begins a window. `left` is the number of bytes that have left so far. */
static void begin_window(struct link_shared *shared, uint64_t left)
{
    link_store(&shared->left, left);
    link_store(&shared->least, UINT64_MAX);
    link_store(&shared->paced, false);
}

/* Whether a window, in which `more` bytes have left within `ns`, has been long
 * enough. A window that measures a rate lasts until WINDOW_BYTES have left, but
 * at most WINDOW_NS_MAX. */
static bool is_long_enough(const struct link_shared *shared, uint64_t more,
                           uint64_t ns)
{
    bool tells_rate = link_load(&shared->pacer) == 0 ||
                      link_load(&shared->least) >= STANDING_BYTES;

    return !tells_rate || more >= WINDOW_BYTES || ns >= WINDOW_NS_MAX;
}

void link_pacer_adapt(struct link *link, uint64_t queued, uint64_t now_ns)
{
    struct link_shared *shared = link->shared;
    uint64_t last_ns = link_load(&shared->judged_ns);
    uint64_t since_ns = link_load(&shared->since_ns);
    uint64_t pacer = link_load(&shared->pacer);
    uint64_t left;
    bool was_gap = link_has_passed(now_ns, last_ns, GAP_NS);
    int64_t more;

    if (queued < link_load(&shared->least))
        link_store(&shared->least, queued);
    if (link->was_paced)
        link_store(&shared->paced, true);
    link_store(&shared->judged_ns, now_ns);
    if (link_has_passed(now_ns, link->counted_ns, WINDOW_NS))
        count_unsent(link, now_ns);
    if (!was_gap && !link_has_passed(now_ns, since_ns, WINDOW_NS))
        return;
    if (link_has_passed(now_ns, link->counted_ns, COUNT_NS))
        count_unsent(link, now_ns);
    left = link->handed - link->unsent - link->queued +
           link_ask_others(link, 0, now_ns).left;
    more = (int64_t)(left - link_load(&shared->left));
    if (was_gap) {
        link_store(&shared->since_ns, now_ns);
        begin_window(shared, left);
        return;
    }
    if (!is_long_enough(shared, more > 0 ? (uint64_t)more : 0,
                        now_ns - since_ns) ||
        !link_may_move(&shared->since_ns, now_ns, WINDOW_NS))
        return;
    if (more > 0) {
        struct window window = {.bytes = (uint64_t)more,
                                .seen = (uint64_t)more * US_PER_S /
                                        ((now_ns - since_ns) / NS_PER_US)};

        pacer = move(shared, pacer, &window);
        link_store(&shared->pacer,
                   pacer > 0 && pacer < PACER_MIN ? PACER_MIN : pacer);
    }
    begin_window(shared, left);
}
