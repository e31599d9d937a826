/*
 * The window over what is not acknowledged.
 *
 * Of the bytes that a flow has in flight, the share 1 - least / RTT stands in
 * a queue somewhere, where least is the round trip to that client without
 * one: what is in flight fills the path (rate * least) and the queue. The sum
 * of that over all flows is the queue at the narrowest place, if they share
 * it; the window is moved so that it stays near a target: long enough to keep
 * the link busy, short enough to leave the order to us. (Brakmo, Peterson,
 * "TCP Vegas", 1995, and Wei, Jin, Low, Hegde, "FAST TCP", 2006, do so for one
 * connection.)
 *
 * The least round trip is kept by client: one for all would take every far
 * client's path for a queue.
 *
 * A window is put up when several flows in a row are delayed alike, so that
 * they seem to share what delays them, and taken down when nothing has been
 * held back for a while.
 */
#include "base/units.h"
#include "engine/link/link_priv.h"
#include "io/socket_state.h"

enum {
    STALE_MS = 100,       /* nothing sent, nothing acknowledged */
    TARGET_BYTES = 16384, /* of the standing queue; and a share of what fills
                             the path */
    TARGET_SHARE = 8,
    SMOOTH = 16,
    BASE_MIN = 16384, /* that fills the path without a queue */
    BASE_START = 1048576,
    BASE_MAX = 64 * 1048576,
    RUN_EMPTY = 8,     /* a path, when no more than that share is under way */
    LOOK_NS = 2000000, /* at most so often */
    LONG_NS = 50000000,
    PERIOD_S = 60,    /* of a least round trip */
    SEGMENTS_MIN = 4, /* of one that is not delayed by its client's
                                 waiting for more to acknowledge */
    DELAY_US = 4000,  /* that is worth anything */
    DELAYED_MIN = 2   /* flows in a row */
};

/* A window that has held nothing back for so long is taken down. */
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

/* Notes what info says of the path; returns its least round trip. */
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
    /* A client that does not answer: nobody waits behind its bytes. */
    if (info->acked_ms > STALE_MS && info->sent_ms > STALE_MS)
        return 0;
    return info->under_way * info->segment_bytes;
}

static void measure(struct link *link, struct link_flow *flow)
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
        link->trip_us += ((int64_t)info.rtt_us - link->trip_us) / 16;
    }
}

/* Looks at all flows, and forgets those with nothing under way. */
static void look(struct link *link, uint64_t now_ns)
{
    struct list *at = link->flows.next;

    link->looked_ns = now_ns;
    link->standing = 0;
    while (at != &link->flows) {
        struct link_flow *flow = OWNER_OF(at, struct link_flow, link);

        at = at->next;
        measure(link, flow);
        link_drop_idle(link, flow);
    }
}

static uint64_t count_ahead(const struct link *link, uint64_t key)
{
    uint64_t ahead = 0;

    for (struct list *at = link->flows.next; at != &link->flows;
         at = at->next) {
        const struct link_flow *flow = OWNER_OF(at, struct link_flow, link);

        if (flow->key <= key)
            ahead += flow->flight;
    }
    return ahead;
}

/* The standing queue that is aimed at, when so much fills the path. */
static uint64_t target_of(uint64_t base)
{
    return TARGET_BYTES + base / TARGET_SHARE;
}

uint64_t link_delay_window_allow(struct link *link, uint64_t key, uint64_t want)
{
    uint64_t base = link_load(&link->shared->base);
    uint64_t window = base + target_of(base);
    struct link_others others = link_ask_others(link, key, link->looked_ns);
    uint64_t room = link_room(window, others.flight + count_ahead(link, key),
                              want);

    if (base == 0) /* taken down meanwhile */
        return want;
    if (!others.is_after && others.flight + link->flight > window - window / 8)
        room = 0;
    if (room == 0) {
        link->was_windowed = true;
        link_store(&link->shared->windowed, true);
    }
    return room;
}

/* Whether the queue is much too long, and has been for a while: a client that
 * was off its CPU for a moment makes none. Then for another while it is not, as
 * the same queue takes some time to go. */
static bool is_long(struct link_shared *shared, uint64_t filling,
                    uint64_t standing, uint64_t now_ns)
{
    uint64_t long_ns = link_load(&shared->long_ns);

    if (standing <= 3 * target_of(filling))
        now_ns = 0;
    else if (long_ns != 0 && !link_has_passed(now_ns, long_ns, LONG_NS))
        return false;
    link_store(&shared->long_ns, now_ns);
    return now_ns != 0 && long_ns != 0;
}

/* The next estimate of what fills the path without a queue: as much as does so
 * now, if the path is full. When no queue is left at all the path may hold
 * more, and all the more when it ran empty while something was held back. */
static uint64_t move(uint64_t base, uint64_t filling, uint64_t standing,
                     bool was_full, bool is_long)
{
    uint64_t target = target_of(base);

    if (is_long && filling < base)
        return filling; /* at once */
    if (!was_full && standing < target)
        return base;
    if (was_full && filling + standing < base / RUN_EMPTY)
        return base + base / RUN_EMPTY;
    base = (base * (SMOOTH - 1) + filling) / SMOOTH;
    if (was_full && standing < target / 4)
        base += base / 32 + LINK_SEGMENT_BYTES;
    return base;
}

static void take_down(struct link *link)
{
    link_store(&link->shared->base, 0);
    link->delayed = 0;
    for (struct list *at = link->flows.next; at != &link->flows; at = at->next)
        OWNER_OF(at, struct link_flow, link)->flight = 0;
    link->flight = link->standing = 0;
    link_forget(link);
}

void link_delay_window_adapt(struct link *link, uint64_t now_ns)
{
    struct link_shared *shared = link->shared;
    uint64_t interval_ns = (uint64_t)link->trip_us * NS_PER_US / 4;
    struct link_others others;
    uint64_t filling, standing;
    bool was_full;
    uint64_t base = link_load(&shared->base);

    if (base == 0 || now_ns - link->looked_ns < LOOK_NS)
        return;
    look(link, now_ns);
    if (interval_ns < LOOK_NS)
        interval_ns = LOOK_NS;
    if (!link_may_move(&shared->base_ns, now_ns, interval_ns))
        return;
    others = link_ask_others(link, 0, now_ns);
    was_full = link_load(&shared->windowed);
    filling = link->flight + others.flight;
    standing = link->standing + others.standing;
    if (standing > filling) /* another worker has just moved on */
        standing = filling;
    filling -= standing;
    base = move(base, filling, standing, was_full,
                is_long(shared, filling, standing, now_ns));
    if (was_full)
        link_store(&shared->windowed_ns, now_ns);
    link_store(&shared->windowed, false);
    if (base > BASE_MAX ||
        link_has_passed(now_ns, link_load(&shared->windowed_ns), UNUSED_NS))
        take_down(link);
    else
        link_store(&shared->base, base > BASE_MIN ? base : BASE_MIN);
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
        link_store(&link->shared->base, BASE_START);
    }
    return true;
}
