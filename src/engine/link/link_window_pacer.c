/*
 * The pace at which bytes leave into the window of link_delay_window.c.
 *
 * After a path was idle, all bytes that the window allows would leave at once,
 * and stand in a queue at the narrow place. A short response asked for
 * meanwhile would wait behind them, and over a new connection twice. So the
 * bytes leave through the bucket, at a pace that brings them under way within a
 * round trip. The pace is a little more than the window, so the window still
 * decides how many bytes are under way.
 *
 * When paths differ, the shortest round trip counts. A longer one would make
 * the pace slower. Then fewer bytes than the window allows would be under way
 * whenever far clients take turns with near ones, and a longer queue would have
 * to make up for the missing bytes.
 */
#include "base/units.h"
#include "engine/link/link_priv.h"

enum {
    PACER_SHARE = 16, /* the pace is 1 / PACER_SHARE above the window */
    NEAR_SHARE = 512, /* near_us grows by 1 / NEAR_SHARE at each look */
    /* The bucket is deeper than usual, by what leaves in LATE_TIMES *
     * late_ns. */
    LATE_TIMES = 2
};

void link_window_pacer_note(struct link_shared *shared, uint64_t least_us)
{
    uint64_t near_us = link_load(&shared->near_us);

    near_us = near_us > 0 ? near_us + near_us / NEAR_SHARE + 1 : least_us;
    link_store(&shared->near_us, near_us < least_us ? near_us : least_us);
}

/* Returns the pace for a window of `bytes` bytes; 0 when the local queue has a
 * pace already, or when no round trip is known. */
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
