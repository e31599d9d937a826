/*
 * The pace at which bytes leave for a window.
 *
 * When a path has been idle, all that the window lets be under way would leave
 * at once, and stand at the narrow place until it has gone through; whoever
 * asks for something short meanwhile waits behind that, twice with a new
 * connection. So it leaves through the bucket, at a pace at which it is under
 * way within a round trip: a little more than the window, which so remains what
 * decides.
 *
 * If paths differ, it is the round trip of the shortest. While far clients take
 * turns with near ones, what is under way is never what it should be, and a
 * queue has to make up for that.
 */
#include "base/units.h"
#include "engine/link/link_priv.h"

enum {
    PACER_SHARE = 16, /* the pace is so much above the window */
    NEAR_SHARE = 512, /* how much near_us grows with each look */
    LATE_TIMES = 2    /* the bucket is deeper by so many times late_ns */
};

void link_window_pacer_note(struct link_shared *shared, uint64_t least_us)
{
    uint64_t near_us = link_load(&shared->near_us);

    near_us = near_us > 0 ? near_us + near_us / NEAR_SHARE + 1 : least_us;
    link_store(&shared->near_us, near_us < least_us ? near_us : least_us);
}

/* The pace for so many bytes that the window lets be under way; 0: none is
 * needed, as one is kept for the local queue. */
static uint64_t pacer_of(const struct link_shared *shared, uint64_t bytes)
{
    uint64_t near_us = link_load(&shared->near_us);
    uint64_t pacer;

    if (near_us == 0 || link_load(&shared->pacer) > 0)
        return 0;
    pacer = bytes * US_PER_S / near_us;
    return pacer + pacer / PACER_SHARE;
}

uint64_t link_window_pacer_allow(struct link *link, uint64_t bytes,
                                 uint64_t key, uint64_t want)
{
    struct link_bucket bucket = {.pacer = pacer_of(link->shared, bytes)};

    link->window_pacer = bucket.pacer;
    if (bucket.pacer == 0)
        return want;
    bucket.burst = link_pacer_burst(link, bucket.pacer) +
                   bucket.pacer * (LATE_TIMES * link->late_ns / NS_PER_US) /
                       US_PER_S;
    return link_bucket_room(link, bucket, key, want);
}

void link_window_pacer_pay(struct link *link, uint64_t bytes)
{
    if (link->window_pacer > 0)
        link_bucket_pay(link->shared, link->window_pacer, bytes);
}
