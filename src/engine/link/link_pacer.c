/*
 * The token bucket: busy_ns says until when what has been handed over keeps
 * the link busy at the pace that is kept. Of a known rate the pace is a little
 * less than that; of one that is found out it follows what is seen: no queue
 * left while bytes are held back here, and the link could carry more; a queue
 * all the time, and it carries less. So it goes up slowly, from there down at
 * once, and stays just below the link's rate, where queues are short. (Chiu,
 * Jain, "Analysis of the increase and decrease algorithms for congestion
 * avoidance", 1989.)
 *
 * The rate is what leaves while the queue is never found empty; what leaves
 * else is only what came. And what has been handed over has not left for the
 * queue yet while its socket waits for acknowledgements: on a slow or a long
 * link that is many times what leaves in a window, and to call it gone is to
 * take the link for one that is a tenth as fast.
 *
 * When this machine, or what carries the link, has no CPU for a moment, less is
 * sent in that window with a queue all the time, which looks like a narrower
 * link. At a load of 0.9 the pace would then be too slow for what comes until
 * it had crept up again, for a second or two. So the rate falls a little for
 * each such window: a link that is narrower indeed goes on having them. And the
 * pace at which the queue came to stand is remembered as its crest: when no
 * queue is left, the pace comes back to a little less than that at once, and
 * only then slowly. If the link is narrower, a queue stands before that, and
 * there is the crest then.
 *
 * Before a link further away the bucket is a lesser thing: the window decides
 * how much is under way, and the bucket that it does not leave all at once
 * (link_window_pacer.c).
 */
#include "base/units.h"
#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    WINDOW_NS = 20 * NS_PER_MS, /* how long the pace is judged */
    /* The longest that the pace is judged, if a rate is to be told. */
    WINDOW_NS_MAX = 200 * NS_PER_MS,
    WINDOW_BYTES = 24576,               /* a rate needs so many bytes */
    COUNT_NS = 2 * NS_PER_MS,           /* between two looks into sockets */
    GAP_NS = 5 * NS_PER_MS,             /* without anything held: begin anew */
    WINDOWS_FIRST = 4,                  /* until a pace, if there is a queue */
    WINDOWS_LATEST = 4 * WINDOWS_FIRST, /* until a pace, if there is none */
    STANDING_BYTES = 6144, /* two segments, as the kernel counts them */
    PACER_MIN = 4096,
    SMOOTH_BYTES = 98304, /* a rate is averaged over so many bytes */
    UP_SHARE = 512,       /* added to the pace in a window */
    UP_SHARE_FAR = 16,    /* added far below the rate or the crest */
    CREST_SHARE = 16,     /* the crest is so much below a pace with a queue */
    DOWN_SHARE = 32,
    FAR_SHARE = 4,  /* a pace that far above what leaves is far off */
    FALL_SHARE = 8, /* the most that a known rate falls in a window */
    /* After so many rises in a row the pace rises quicker. */
    STEADY_WINDOWS = 64,
    QUICKER_MAX = 5 /* by 2^5 times at most */
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
    /* Others go first, unless the link would run dry. */
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

/* The next pace after one with a queue all the time. The link was busy, so its
 * rate is what has left: below that the queue gets shorter, and there is no use
 * in going further down meanwhile. */
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

/* Notes that a queue has come to stand at this pace, where none was before. */
static void note_crest(struct link_shared *shared, uint64_t pacer)
{
    link_store(&shared->crest, pacer - pacer / CREST_SHARE);
}

/* The next pace after one without a queue. */
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

/* How much left in a window of time. */
struct window {
    uint64_t bytes;
    uint64_t seen; /* rate at which bytes left, a second */
};

/* The least that the rate becomes after a window in which less left. While no
 * pace is kept, the best of the first windows counts: in the last of them
 * somebody may have had no CPU, and the pace would be too low for more than a
 * second. (A few packets more or fewer are averaged instead.) */
static uint64_t least_rate(const struct link_shared *shared,
                           const struct window *window, uint64_t rate)
{
    if (link_load(&shared->pacer) > 0)
        return rate - rate / FALL_SHARE;
    return window->bytes < SMOOTH_BYTES ? 0 : rate;
}

/* The link's rate, as known after a window in which the link was busy all the
 * time or not. While a pace is kept, a rate is known. */
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

/* The next pace, after a window. */
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
    /* Something else kept the queue short, or others had the CPU; and without a
     * queue there is no reason to go far beyond what leaves. */
    if (!link_load(&shared->paced) || window->seen < pacer - pacer / FAR_SHARE)
        return pacer;
    link_store(&shared->rises, rises);
    rate -= rate / UP_SHARE_FAR;
    return move_up(pacer, crest > rate ? crest : rate, rises);
}

/* Counts how much of what was handed over still lies in sockets. A flow that
 * was handed nothing since the last count is dropped when it has nothing in the
 * queue, as its client may have stopped reading. */
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

/* Begins a window; left: bytes that have left so far. */
static void begin_window(struct link_shared *shared, uint64_t left)
{
    link_store(&shared->left, left);
    link_store(&shared->least, UINT64_MAX);
    link_store(&shared->paced, false);
}

/* Whether a window has been long enough for what it tells. */
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
