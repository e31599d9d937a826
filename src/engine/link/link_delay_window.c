/*
 * The window bounds the bytes that are sent and not acknowledged.
 *
 * Bytes in flight fill a path (rate * least) and a queue. Of the bytes that a
 * flow has in flight, the part 1 - least / RTT stands in a queue somewhere,
 * where least is the round trip to that client without a queue. The sum over
 * all flows is the queue at the narrowest place, if the flows share it. The
 * window is moved so that this queue stays near a target: long enough to keep
 * the link busy, and short enough to leave the order to the scheduler. (For
 * single connections: Brakmo, Peterson, "TCP Vegas", 1995, and Wei, Jin, Low,
 * Hegde, "FAST TCP", 2006.)
 *
 * The least round trip is kept for each client: with one least round trip for
 * all, every far client's path would be taken for a queue. The window is kept
 * as a rate, not as bytes, since a window in bytes would fit only one mix of
 * paths: bytes that fill a path of 4 ms leave a path of 60 ms empty. A flow
 * counts with its bytes in flight / span, where span is its least round trip
 * plus the time that the target queue takes to drain.
 *
 * Held-back bytes leave at ticks, as many as were acknowledged since the last
 * tick. So the queue has to last for a tick, even a late one, and need not be
 * longer. Measuring costs system calls and is not done at each tick. Between
 * two measurements, acknowledgements are assumed to come evenly. Without this
 * assumption, all bytes acknowledged since the last measurement would be
 * replaced at once.
 *
 * A window begins when several flows in a row are delayed alike, so that they
 * seem to share the cause of the delay. The window ends when nothing was held
 * back for a while.
 */
#include "base/units.h"
#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    /* Bytes in flight do not count when the client has been silent, and was
     * sent nothing, for this long. */
    STALE_MS = 100,
    /* The shortest target queue, for a path without length. */
    TARGET_BYTES = 6144,
    TARGET_SHARE = 32,
    /* A queue is much too long when it exceeds LONG_BYTES by more than 1 /
     * LONG_SHARE of the bytes that fill the path. */
    LONG_BYTES = 24576,
    LONG_SHARE = 4,
    /* The least bytes in flight, even on a path without length. */
    SPAN_BYTES = 14336,
    SPAN_US = 10000, /* supposed round trip of an unknown path */
    SMOOTH = 16,
    GROW = 32,
    WINDOW_MIN = 51200, /* smallest window, in bytes a second */
    WINDOW_START = 104857600,
    /* A path has run empty when less than 1 / RUN_EMPTY of the window is in
     * flight. */
    RUN_EMPTY = 8,
    LOOK_NS = 1000000, /* least time between two measurements */
    MOVE_NS = 2000000, /* least time between two moves of the window */
    LONG_NS = 50000000,
    PERIOD_S = 60, /* the length of a period of struct link_path */
    /* A flow with fewer segments in flight is not judged, since its delay may
     * be that of a single delayed acknowledgement. */
    SEGMENTS_MIN = 4,
    DELAY_US = 4000, /* a smaller delay does not count */
    DELAYED_MIN = 2  /* delayed flows in a row that begin a window */
};

/* What has held bytes back. */
enum { BY_PACER = 1, BY_WINDOW = 2 };

/* The largest window, in bytes a second: no link is so wide. */
#define WINDOW_MAX (UINT64_C(6) << 30)

/* A window ends when it has held nothing back for this long. */
#define UNUSED_NS (UINT64_C(30) * NS_PER_S)

static bool ask(struct link *link, const struct link_flow *flow,
                struct socket_path *info)
{
    link->counters.measured++;
    return socket_ask_path(flow->fd, info);
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Notes the path's round trip from `info`. Returns the path's least round
 * trip. */
static uint32_t note_path(struct link *link, const struct link_flow *flow,
                          const struct socket_path *info, uint64_t now_ns)
{
    struct link_path *path = &link->paths[flow->path % LINK_PATHS];
    uint32_t now_s = (uint32_t)(now_ns / NS_PER_S);
    uint32_t least_us = least_of(info->rtt_us, info->least_rtt_us);

    if (path->path != flow->path || now_s - path->since_s > 2 * PERIOD_S)
        *path = (struct link_path){flow->path, UINT32_MAX, UINT32_MAX, now_s};
    else if (now_s - path->since_s > PERIOD_S)
        *path = (struct link_path){flow->path, UINT32_MAX, path->least_us,
                                   now_s};
    path->least_us = least_of(path->least_us, least_us);
    return least_of(path->least_us, path->last_least_us);
}

static uint32_t count_flight(const struct socket_path *info)
{
    /* The bytes of a client that does not answer stand in no queue. */
    if (info->acked_ms > STALE_MS && info->sent_ms > STALE_MS)
        return 0;
    return info->under_way * info->segment_bytes;
}

/* The measured flights, added up. `flight` is in bytes. `rate` is what these
 * bytes would be in bytes a second, if no path had a queue. near_us is the
 * least round trip of all paths. */
struct measured {
    uint64_t flight;
    uint64_t rate;
    uint32_t near_us;
};

static void measure(struct link *link, struct link_flow *flow,
                    struct measured *measured)
{
    struct socket_path info = {0};
    uint32_t flight = 0;

    if (ask(link, flow, &info))
        flight = count_flight(&info);
    link->flight = link->flight - flow->flight + flight;
    flow->flight = flight;
    if (flight >= 2 * info.segment_bytes && info.rtt_us > 0 &&
        info.acked_ms <= STALE_MS) {
        uint32_t least_us = note_path(link, flow, &info, link->looked_ns);

        link->standing += (uint64_t)flight * (info.rtt_us - least_us) /
                          info.rtt_us;
        measured->near_us = least_of(measured->near_us, least_us);
        measured->flight += flight;
        measured->rate += (uint64_t)flight * US_PER_S /
                          (least_us > 0 ? least_us : 1);
        if (link->trip_us == 0)
            link->trip_us = info.rtt_us;
        link->trip_us += ((int64_t)info.rtt_us - link->trip_us) / SMOOTH;
    }
}

/* Measures all flows, and forgets those with nothing under way. */
static void look(struct link *link, uint64_t now_ns)
{
    struct list *at = link->flows.next;
    struct measured measured = {.near_us = UINT32_MAX};

    link->looked_ns = now_ns;
    link->standing = 0;
    while (at != &link->flows) {
        struct link_flow *flow = OWNER_OF(at, struct link_flow, link);

        at = at->next;
        measure(link, flow, &measured);
        link_drop_idle(link, flow);
    }
    link->looked = link->flight;
    if (measured.rate == 0)
        return;
    link->least_us = measured.flight * US_PER_S / measured.rate;
    if (link->least_us == 0)
        link->least_us = 1;
    link_window_pacer_note(link->shared, measured.near_us);
    link_store(&link->shared->trip_us, (uint64_t)link->trip_us);
}

/* Returns the bytes in flight of flows whose key is at most `key`. It supposes
 * that since the last measurement the same part of each flow's bytes was
 * acknowledged. */
static uint64_t count_ahead(const struct link *link, uint64_t key)
{
    uint64_t ahead = 0;

    if (link->flight == 0)
        return 0;
    for (struct list *at = link->flows.next; at != &link->flows;
         at = at->next) {
        const struct link_flow *flow = OWNER_OF(at, struct link_flow, link);

        if (flow->key <= key)
            ahead += flow->flight;
    }
    return ahead * link_count_flight(link, now_read_ns()) / link->flight;
}

/* Returns how long the target queue lasts when it empties at the rate
 * `window`. */
static uint64_t target_us(const struct link *link, uint64_t window)
{
    uint64_t tick_us = (LINK_TICK_NS + link->late_ns) / NS_PER_US;
    uint64_t least_us = (uint64_t)TARGET_BYTES * US_PER_S / window;

    return (tick_us > least_us ? tick_us : least_us) +
           link->least_us / TARGET_SHARE;
}

/* Returns the length of the target queue, in bytes. */
static uint64_t target_of(const struct link *link, uint64_t window)
{
    return window * target_us(link, window) / US_PER_S;
}

static uint64_t span_us(const struct link *link, uint64_t window)
{
    uint64_t least_us = link->least_us > 0 ? link->least_us : SPAN_US;
    uint64_t span = least_us + target_us(link, window);
    uint64_t span_min = (uint64_t)SPAN_BYTES * US_PER_S / window;

    return span > span_min ? span : span_min;
}

/* Notes that bytes were held back, and by what. */
static void note_held(struct link_shared *shared, uint64_t by)
{
    if (link_load(&shared->windowed) < by)
        link_store(&shared->windowed, by);
}

uint64_t link_delay_window_allow(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t window = link_load(&link->shared->window);
    struct link_others others;
    uint64_t bytes, room;

    if (window == 0) /* the window has ended */
        return want;
    link->span_us = span_us(link, window);
    bytes = window * link->span_us / US_PER_S;
    want = link_window_pacer_allow(link, bytes, key, want);
    if (want == 0) {
        note_held(link->shared, BY_PACER);
        return 0;
    }
    others = link_ask_others(link, key, link->looked_ns);
    others.flight = others.flight * link->span_us / US_PER_S;
    room = link_room(bytes, others.flight + count_ahead(link, key), want);
    if (!others.is_after && others.flight + link->flight > bytes - bytes / 8)
        room = 0;
    if (room == 0) {
        link->was_windowed = true;
        note_held(link->shared, BY_WINDOW);
    }
    return room;
}

/* Whether the queue has been much too long for LONG_NS. A shorter time does not
 * count, since a client may have been off its CPU. After the result was true,
 * it is false for LONG_NS, because it takes time for the same queue to go. */
static bool is_long(const struct link *link, uint64_t passing,
                    uint64_t standing, uint64_t now_ns)
{
    struct link_shared *shared = link->shared;
    uint64_t long_ns = link_load(&shared->long_ns);

    if (standing <=
        LONG_BYTES + passing * link->least_us / US_PER_S / LONG_SHARE)
        now_ns = 0;
    else if (long_ns != 0 && !link_has_passed(now_ns, long_ns, LONG_NS))
        return false;
    link_store(&shared->long_ns, now_ns);
    return now_ns != 0 && long_ns != 0;
}

/* What all workers have in flight. */
struct filling {
    uint64_t flight;   /* bytes in flight, as a rate */
    uint64_t passing;  /* bytes a second that come through */
    uint64_t standing; /* bytes in the queue */
    bool was_held;     /* bytes were held back */
    bool was_full;     /* the window held them back, not its pace */
    bool is_long;
};

static struct filling count_filling(struct link *link, uint64_t window,
                                    uint64_t now_ns)
{
    struct link_others others = link_ask_others(link, 0, now_ns);
    uint64_t windowed = link_load(&link->shared->windowed);
    struct filling all = {.flight = others.flight + link->flight * US_PER_S /
                                                        span_us(link, window),
                          .passing = others.passing + link_count_passing(link),
                          .standing = others.standing + link->standing,
                          .was_held = windowed > 0,
                          .was_full = windowed == BY_WINDOW};

    all.is_long = is_long(link, all.passing, all.standing, now_ns);
    return all;
}

/* Returns the next window. It follows the bytes a second that come through:
 * slowly, or at once when the queue is much too long. While bytes are held
 * back, it also grows when hardly a queue is left, and grows more when the path
 * has run empty. */
static uint64_t move(uint64_t window, uint64_t target,
                     const struct filling *all)
{
    if (all->is_long && all->passing < window)
        return all->passing; /* the window falls at once */
    if (!all->was_held && all->standing < target)
        return window;
    if (all->was_full && all->flight < window / RUN_EMPTY)
        return window + window / RUN_EMPTY;
    window = (window * (SMOOTH - 1) + all->passing) / SMOOTH;
    if (all->was_held && all->standing < target / 2)
        window += window / GROW + WINDOW_MIN / RUN_EMPTY;
    return window;
}

static void take_down(struct link *link)
{
    link_store(&link->shared->window, 0);
    link_store(&link->shared->trip_us, 0);
    link_store(&link->shared->near_us, 0);
    link->window_pacer = 0;
    link->delayed = 0;
    for (struct list *at = link->flows.next; at != &link->flows; at = at->next)
        OWNER_OF(at, struct link_flow, link)->flight = 0;
    link->flight = link->standing = link->looked = 0;
    link_forget(link);
}

void link_delay_window_adapt(struct link *link, uint64_t now_ns)
{
    struct link_shared *shared = link->shared;
    uint64_t window = link_load(&shared->window);
    uint64_t interval_ns;
    struct filling all;

    if (window == 0 || now_ns - link->looked_ns < LOOK_NS)
        return;
    look(link, now_ns);
    interval_ns = link_load(&shared->trip_us) * NS_PER_US / 4;
    if (interval_ns < MOVE_NS)
        interval_ns = MOVE_NS;
    if (!link_may_move(&shared->window_ns, now_ns, interval_ns))
        return;
    all = count_filling(link, window, now_ns);
    window = move(window, target_of(link, window), &all);
    if (all.was_held)
        link_store(&shared->windowed_ns, now_ns);
    link_store(&shared->windowed, 0);
    if (window > WINDOW_MAX ||
        link_has_passed(now_ns, link_load(&shared->windowed_ns), UNUSED_NS))
        take_down(link);
    else
        link_store(&shared->window, window > WINDOW_MIN ? window : WINDOW_MIN);
}

bool link_delay_window_probe(struct link *link, const struct link_flow *flow,
                             uint64_t now_ns)
{
    struct socket_path info = {0};
    uint32_t least_us;
    uint32_t delay_us;

    if (!ask(link, flow, &info) || info.rtt_us == 0)
        return false;
    least_us = note_path(link, flow, &info, now_ns);
    if (info.unacked < SEGMENTS_MIN)
        return false;
    delay_us = info.rtt_us - least_us;
    if (delay_us < DELAY_US || delay_us < least_us / 8) {
        link->delayed = 0;
        return false;
    }
    if (delay_us / 4 > link->delay_us || delay_us < link->delay_us / 4)
        link->delayed = 0;
    link->delay_us = delay_us;
    if (++link->delayed >= DELAYED_MIN) {
        link_store(&link->shared->windowed_ns, now_ns);
        link_store(&link->shared->window, WINDOW_START);
    }
    return true;
}
