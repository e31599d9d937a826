/*
 * link_priv - what the parts of link share. Each calls only those below it:
 *
 *   link.c               all modes; whether the link is fast
 *   link_state.c         what is told of the link
 *   link_queue_limit.c   the queue on this machine, kept below a limit
 *   link_delay_window.c  a queue that only acknowledgements tell of
 *   link_window_pacer.c  the pace at which bytes leave for that
 *   link_pacer.c         the bucket that lets bytes go at a pace, and the
 *                        estimate of the link's rate that the pace follows
 *   link_shared.c        what workers tell one another; a worker's flows
 */
#ifndef ENGINE_LINK_LINK_PRIV_H
#define ENGINE_LINK_LINK_PRIV_H

#include "base/now.h"
#include "engine/link/link.h"

/* How long it counts what a worker has published of its queue, or of what is
 * not acknowledged. */
enum {
    LINK_FRESH_NS = 2 * LINK_TICK_NS,
    LINK_QUEUED_FRESH_NS = 8 * LINK_TICK_NS,
    LINK_FLIGHT_FRESH_NS = 200 * LINK_TICK_NS
};

/* Writes only a new value, so that the cache line stays shared otherwise. */
static inline void link_store(_Atomic uint64_t *number, uint64_t value)
{
    if (link_load(number) != value)
        atomic_store_explicit(number, value, memory_order_relaxed);
}

/* Whether so much time has passed. Another worker may have read its clock a
 * little later than this one; that counts as no time. */
static inline bool link_has_passed(uint64_t now_ns, uint64_t then_ns,
                                   uint64_t span_ns)
{
    return (int64_t)(now_ns - then_ns) >= (int64_t)span_ns;
}

/* Bytes a second of the narrowest place that is known, here or further away; 0:
 * none is. A wide window may be up behind a narrow link here, when a client
 * without a CPU acknowledges late. */
static inline uint64_t link_narrowest(const struct link *link)
{
    uint64_t pacer = link_load(&link->shared->pacer);
    uint64_t window = link_load(&link->shared->window);

    return window == 0 || (pacer > 0 && pacer < window) ? pacer : window;
}

/* --- link_shared.c -------------------------------------------------------- */

/* Sums over the other workers. */
struct link_others {
    uint64_t queued;
    uint64_t flight;
    uint64_t passing;
    uint64_t standing;
    uint64_t left; /* bytes that have left, as each last saw */
    bool is_after; /* nothing of theirs that waits goes first */
};

/* What the other workers have, and whether theirs all goes after key. */
struct link_others link_ask_others(const struct link *link, uint64_t key,
                                   uint64_t now_ns);

/* What all workers have in the queue, once this one has looked at its own part;
 * or at least enough. */
uint64_t link_count_queued(struct link *link, uint64_t enough, uint64_t now_ns);

/* The part of want that fits below limit, behind ahead bytes. */
uint64_t link_room(uint64_t limit, uint64_t ahead, uint64_t want);

/* Forgets a flow with nothing under way. */
void link_drop_idle(struct link *link, struct link_flow *flow);

/* Bytes in flight by now, if as many as fit the time were acknowledged since
 * they were looked at. */
uint64_t link_count_flight(const struct link *link, uint64_t now_ns);

/* How much of the flight comes through, in bytes a second. */
uint64_t link_count_passing(const struct link *link);

/* Drops all flows when they need not be tracked any more. */
void link_forget(struct link *link);

/* Whether this worker moves what all share now: only one does in each
 * interval_ns. */
bool link_may_move(_Atomic uint64_t *moved_ns, uint64_t now_ns,
                   uint64_t interval_ns);

/* --- link_pacer.c -------------------------------------------------------- */

static inline uint64_t link_wire_bytes(uint64_t bytes)
{
    return bytes + (bytes + LINK_SEGMENT_BYTES - 1) / LINK_SEGMENT_BYTES *
                       LINK_HEADER_BYTES;
}

/* How much may leave ahead of the pace: enough for two ticks, or for one tick
 * as late as they have been lately. */
uint64_t link_pacer_burst(const struct link *link, uint64_t pacer);

/* A bucket that lets so many bytes a second go, and so many ahead of that. */
struct link_bucket {
    uint64_t pacer;
    uint64_t burst;
};

/* The part of want that the bucket lets go for key. */
uint64_t link_bucket_room(const struct link *link, struct link_bucket bucket,
                          uint64_t key, uint64_t want);
void link_bucket_pay(struct link_shared *shared, uint64_t pacer,
                     uint64_t bytes);

uint64_t link_pacer_allow(struct link *link, uint64_t key, uint64_t want);
void link_pacer_pay(struct link *link, uint64_t wire_bytes);

/* Estimates the link's rate again, and moves the pace: queued bytes were found
 * in the local queue while some are held back. */
void link_pacer_adapt(struct link *link, uint64_t queued, uint64_t now_ns);

/* --- link_window_pacer.c -------------------------------------------------- */

/* The part of want that may leave now for a window of so many bytes. */
uint64_t link_window_pacer_allow(struct link *link, uint64_t bytes,
                                 uint64_t key, uint64_t want);
void link_window_pacer_pay(struct link *link, uint64_t bytes);

/* Notes the shortest path seen; a shorter one is remembered for some
 * seconds. */
void link_window_pacer_note(struct link_shared *shared, uint64_t least_us);

/* --- link_queue_limit.c -------------------------------------------------- */

/* Asks how many bytes flow has in the local queue. */
uint32_t link_queue_limit_measure(struct link *link,
                                  const struct link_flow *flow);

/* How many bytes may stand in the local queue now. */
uint64_t link_queue_limit_bytes(const struct link *link);

uint64_t link_queue_limit_allow(struct link *link, uint64_t key, uint64_t want);

/* Looks at the local queue, and moves the limit. */
void link_queue_limit_adapt(struct link *link, uint64_t now_ns);

/* Loosens the limit when much was sent, none of it held, no pace is known, and
 * there is hardly a queue: the limit need not be so low then, or there need be
 * none. */
void link_queue_limit_loosen(struct link *link);

/* Keeps the local queue short from now on: one was found unexpectedly. */
void link_queue_limit_engage(struct link *link);

/* --- link_delay_window.c ------------------------------------------------- */

uint64_t link_delay_window_allow(struct link *link, uint64_t key,
                                 uint64_t want);

/* Looks at the flights, if it is time, and moves the window. */
void link_delay_window_adapt(struct link *link, uint64_t now_ns);

/* Looks whether one flow is delayed while the link holds nothing back. When
 * several flows in a row are, the window is put up. */
bool link_delay_window_probe(struct link *link, const struct link_flow *flow,
                             uint64_t now_ns);

#endif
