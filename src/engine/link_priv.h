/*
 * link_priv - what the parts of link share. Each calls only those below it:
 *
 *   link.c            all modes; whether the link is fast
 *   link_state.c      what is told of it
 *   link_local.c      the queue on this machine
 *   link_remote.c     a queue that only acknowledgements tell of
 *   link_pace.c       the bucket
 *   link_shared.c     what workers tell one another; a worker's flows
 */
#ifndef ENGINE_LINK_PRIV_H
#define ENGINE_LINK_PRIV_H

#include "base/now.h"
#include "engine/link.h"

/* What a worker has said of its queue, and of what is not acknowledged, says
 * nothing any more after that. */
enum {
    LINK_FRESH_NS = 2 * LINK_TICK_NS,
    LINK_FLIGHT_FRESH_NS = 200 * LINK_TICK_NS
};

static inline uint64_t link_load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* Leaves the line shared when nothing is new. */
static inline void link_store(_Atomic uint64_t *number, uint64_t value)
{
    if (link_load(number) != value)
        atomic_store_explicit(number, value, memory_order_relaxed);
}

/* Whether so much time has passed. Another worker may have read its clock a
 * little later than this one: then it has not. */
static inline bool link_has_passed(uint64_t now_ns, uint64_t then_ns,
                                   uint64_t span_ns)
{
    return (int64_t)(now_ns - then_ns) >= (int64_t)span_ns;
}

/* --- link_shared.c -------------------------------------------------------- */

/* Sums over the other workers. */
struct link_others {
    uint64_t queued;
    uint64_t flight;
    uint64_t standing;
    uint64_t handed;
    bool is_after; /* none of them has anything waiting that comes before */
};

/* What the others have, and whether what stands at key goes before it. */
struct link_others link_ask_others(const struct link *link, uint64_t key,
                                   uint64_t now_ns);

/* Room below the limit for one that has ahead bytes before it. */
uint64_t link_room(uint64_t limit, uint64_t ahead, uint64_t want);

/* Forgets a flow with nothing under way. */
void link_drop_idle(struct link *link, struct link_flow *flow);

/* Drops all flows when they need not be tracked any more. */
void link_forget(struct link *link);

/* Whether it is this worker's turn to move what all share: only one does, in
 * any interval_ns. */
bool link_may_move(_Atomic uint64_t *moved_ns, uint64_t now_ns,
                   uint64_t interval_ns);

/* --- What they all ask ---------------------------------------------------- */

/* Whether a window is up. */
static inline bool link_is_windowed(const struct link *link)
{
    return link_load(&link->shared->base) > 0;
}

/* Whether bytes that were handed over are counted. */
static inline bool link_tracks(const struct link *link)
{
    return link->is_local || link_is_windowed(link);
}

/* --- link_pace.c ---------------------------------------------------------- */

static inline uint64_t link_wire_bytes(uint64_t bytes)
{
    return bytes + (bytes + LINK_SEGMENT_BYTES - 1) / LINK_SEGMENT_BYTES *
                       LINK_HEADER_BYTES;
}

/* What may leave ahead of the pace. */
uint64_t link_pace_burst(uint64_t pace);

uint64_t link_pace_allow(struct link *link, uint64_t key, uint64_t want);
void link_pace_pay(struct link *link, uint64_t wire_bytes);

/* So many bytes were found in the local queue while some are held back. */
void link_pace_adapt(struct link *link, uint64_t queued, uint64_t now_ns);

/* --- link_local.c --------------------------------------------------------- */

/* What flow has in the queue. */
uint32_t link_local_measure(struct link *link, const struct link_flow *flow);

/* Of bytes in the queue. */
uint64_t link_local_limit(const struct link_shared *shared);

uint64_t link_local_allow(struct link *link, uint64_t key, uint64_t want);

/* Looks, and moves the limit. */
void link_local_adapt(struct link *link, uint64_t now_ns);

/* A queue was found where none was expected. */
void link_local_engage(struct link *link);

/* --- link_remote.c -------------------------------------------------------- */

uint64_t link_remote_allow(struct link *link, uint64_t key, uint64_t want);

/* Looks, if it is time, and moves the window. */
void link_remote_adapt(struct link *link, uint64_t now_ns);

/* One flow of a link that is not held back: is it delayed? When several in a
 * row are, the window is put up. */
bool link_remote_probe(struct link *link, const struct link_flow *flow,
                       uint64_t now_ns);

#endif
