/*
 * link_priv - what the files of link share. Each file calls only those listed
 * below it:
 *
 *   link.c               all modes; whether the link is fast
 *   link_state.c         reports the state of the link
 *   link_queue_limit.c   keeps the queue on this machine below a limit
 *   link_delay_window.c  keeps a queue further away short, by acknowledgements
 *   link_window_pacer.c  the pace at which bytes leave for the window
 *   link_pacer.c         the bucket that lets bytes go at a pace, and the
 *                        estimate of the link's rate that the pace follows
 *   link_shared.c        what workers tell one another; a worker's flows
 */
#ifndef ENGINE_LINK_LINK_PRIV_H
#define ENGINE_LINK_LINK_PRIV_H

#include "base/now.h"
#include "engine/link/link.h"

/* The greatest ages at which the numbers that a worker has published are used:
 * LINK_FRESH_NS for its queue when a response asks for room,
 * LINK_QUEUED_FRESH_NS for its queue when all queues are added up, and
 * LINK_FLIGHT_FRESH_NS for its bytes in flight. */
enum {
    LINK_FRESH_NS = 2 * LINK_TICK_NS,
    LINK_QUEUED_FRESH_NS = 8 * LINK_TICK_NS,
    LINK_FLIGHT_FRESH_NS = 200 * LINK_TICK_NS
};

/* Writes the value only if it differs from the old one. Writing the same value
 * would make other workers' copies of the cache line invalid for nothing. */
static inline void link_store(_Atomic uint64_t *number, uint64_t value)
{
    if (link_load(number) != value)
        atomic_store_explicit(number, value, memory_order_relaxed);
}

/* Whether span_ns has passed since then_ns. Another worker may have set then_ns
 * a little later than now_ns; then no time counts as passed. */
static inline bool link_has_passed(uint64_t now_ns, uint64_t then_ns,
                                   uint64_t span_ns)
{
    return (int64_t)(now_ns - then_ns) >= (int64_t)span_ns;
}

/* Returns the rate of the narrowest known place, on this machine or further
 * away; 0 when none is known. Pace and window may both exist, because a client
 * without a CPU acknowledges late, as if a queue stood further away. */
static inline uint64_t link_narrowest(const struct link *link)
{
    uint64_t pacer = link_load(&link->shared->pacer);
    uint64_t window = link_load(&link->shared->window);

    return window == 0 || (pacer > 0 && pacer < window) ? pacer : window;
}

/* --- link_shared.c -------------------------------------------------------- */

/* What the other workers have published, added up. */
struct link_others {
    uint64_t queued;
    uint64_t flight;
    uint64_t passing;
    uint64_t standing;
    uint64_t left; /* bytes that had left when each worker last looked */
    bool is_after; /* the other workers' responses come later in the order */
};

/* Adds up what the other workers have published. is_after of the result says
 * whether all responses that wait there come after `key` in the order. */
struct link_others link_ask_others(const struct link *link, uint64_t key,
                                   uint64_t now_ns);

/* Returns how many bytes all workers have in the local queue; the caller has
 * just measured this worker's part. Counting ends early once there are `enough`
 * bytes. */
uint64_t link_count_queued(struct link *link, uint64_t enough, uint64_t now_ns);

/* Returns how many of `want` bytes may be added to `ahead` bytes that are there
 * already. The result is 0 when `ahead` has reached `limit`. Otherwise there is
 * room for at least one segment, even if it exceeds the limit a little. */
uint64_t link_room(uint64_t limit, uint64_t ahead, uint64_t want);

/* Drops a flow if it has nothing in the local queue and nothing in flight. */
void link_drop_idle(struct link *link, struct link_flow *flow);

/* Returns the bytes in flight now, supposing that acknowledgements have come
 * evenly over a round trip since the flights were measured. */
uint64_t link_count_flight(const struct link *link, uint64_t now_ns);

/* Returns how many bytes a second come through the narrowest place. */
uint64_t link_count_passing(const struct link *link);

/* Drops all flows, unless link_tracks() is true. */
void link_forget(struct link *link);

/* Whether this worker may move a number that all workers share. In each
 * interval_ns only one worker may do so. */
bool link_may_move(_Atomic uint64_t *moved_ns, uint64_t now_ns,
                   uint64_t interval_ns);

/* --- link_pacer.c -------------------------------------------------------- */

static inline uint64_t link_wire_bytes(uint64_t bytes)
{
    return bytes + (bytes + LINK_SEGMENT_BYTES - 1) / LINK_SEGMENT_BYTES *
                       LINK_HEADER_BYTES;
}

/* Returns how many bytes may leave ahead of the pace `pacer`. They keep the
 * link busy for two ticks, or for longer when recent ticks were late. */
uint64_t link_pacer_burst(const struct link *link, uint64_t pacer);

/* A bucket that lets `pacer` bytes a second go, and at most `burst` bytes ahead
 * of this pace. */
struct link_bucket {
    uint64_t pacer;
    uint64_t burst;
};

/* Returns how many of `want` bytes the bucket lets go for a response whose key
 * is `key`. */
uint64_t link_bucket_room(const struct link *link, struct link_bucket bucket,
                          uint64_t key, uint64_t want);
void link_bucket_pay(struct link_shared *shared, uint64_t pacer,
                     uint64_t bytes);

uint64_t link_pacer_allow(struct link *link, uint64_t key, uint64_t want);
void link_pacer_pay(struct link *link, uint64_t wire_bytes);

/* Estimates the link's rate again, and moves the pace. `queued` is how many
 * bytes were found in the local queue while further bytes were held back. */
void link_pacer_adapt(struct link *link, uint64_t queued, uint64_t now_ns);

/* --- link_window_pacer.c -------------------------------------------------- */

/* Returns how many of `want` bytes may leave now, at the pace at which a window
 * of `bytes` bytes is filled. */
uint64_t link_window_pacer_allow(struct link *link, uint64_t bytes,
                                 uint64_t key, uint64_t want);
void link_window_pacer_pay(struct link *link, uint64_t bytes);

/* Notes the shortest round trip of the measured flows. A shorter round trip
 * that was noted earlier is forgotten slowly, over some seconds. */
void link_window_pacer_note(struct link_shared *shared, uint64_t least_us);

/* --- link_queue_limit.c -------------------------------------------------- */

/* Asks the kernel how many bytes of `flow` are in the local queue. */
uint32_t link_queue_limit_measure(struct link *link,
                                  const struct link_flow *flow);

/* Returns how many bytes may stand in the local queue now. */
uint64_t link_queue_limit_bytes(const struct link *link);

uint64_t link_queue_limit_allow(struct link *link, uint64_t key, uint64_t want);

/* Measures the local queue, and moves the limit. */
void link_queue_limit_adapt(struct link *link, uint64_t now_ns);

/* Called when much was sent without being held back, and no pace is known. If
 * there is hardly a queue, raises the limit. When the limit becomes higher than
 * LINK_LIMIT_MAX, the link counts as fast. */
void link_queue_limit_loosen(struct link *link);

/* Called when a probe has found a queue: the queue is kept short from now
 * on. */
void link_queue_limit_engage(struct link *link);

/* --- link_delay_window.c ------------------------------------------------- */

uint64_t link_delay_window_allow(struct link *link, uint64_t key,
                                 uint64_t want);

/* Measures the flights, if it is time, and moves the window. */
void link_delay_window_adapt(struct link *link, uint64_t now_ns);

/* Called while the link holds nothing back. Returns whether `flow` is delayed.
 * When several flows in a row are delayed alike, a window begins. */
bool link_delay_window_probe(struct link *link, const struct link_flow *flow,
                             uint64_t now_ns);

#endif
