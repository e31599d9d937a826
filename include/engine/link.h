/*
 * link - holds bytes back, so that the order of sending is decided here and
 * not by what already lies in the kernel.
 *
 * Sockets take megabytes. Whatever has been handed over leaves in the
 * kernel's order, so that choosing the shortest response first changes
 * nothing while all of them can be handed over at once. This module says how
 * much may be handed over at any time; what is refused waits in the
 * scheduler, where a shorter response can still pass it.
 *
 *   off   nothing is held back.
 *   rate  the link's rate is known: a token bucket at LINK_RATE_PERCENT of
 *         it, LINK_BURST_BYTES deep or, when that is more, as deep as keeps
 *         the link busy for two ticks, counting bytes on the wire.
 *   auto  the rate is found out: what lies between socket and wire (in the
 *         queueing discipline and the driver, SO_MEMINFO) is kept below a
 *         limit that follows the link, as the kernel's dynamic queue limits
 *         do: held back and found empty, it grows; found more than half full,
 *         it shrinks. A link that is always found empty is fast: nothing is
 *         held back or measured any more, until a probe finds a queue again.
 *
 * What counts against a response are the bytes of those before or equal to it
 * in the order only: a short one is never refused because of the bytes of a
 * long one. That is pre-emption, and it costs at most one limit of waiting.
 *
 * All workers share one limit, or one bucket. Each publishes what it has in
 * the kernel on a cache line of its own; nothing is locked. A worker whose
 * next response is not the very next of all sends only to keep the link busy.
 *
 * Thread: struct link is one worker's; struct link_shared is shared, by
 *         atomics, relaxed: its numbers steer, nothing else depends on them.
 * Owns:   the list of flows, not the flows; the shared part its lines.
 */
#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/list.h"

enum {
    LINK_RATE_PERCENT = 97,
    LINK_BURST_BYTES = 16384,
    LINK_HEADER_BYTES = 66, /* Ethernet, IPv4, TCP with timestamps */
    LINK_SEGMENT_BYTES = 1448,
    LINK_TICK_NS = 500000, /* how soon the held are looked at again */
    LINK_LIMIT_MIN = 4096, /* of bytes in the local queue */
    LINK_LIMIT_START = 65536,
    LINK_LIMIT_MAX = 4 * 1048576, /* beyond it the link is called fast */
    LINK_UNSENT_MAX = 16384,      /* per socket, while bytes are held back */
    LINK_PROBE_BYTES = 1048576,   /* sent between two probes of a fast link */
    LINK_PROBE_MS = 2             /* a queue that stands so long is one */
};

enum link_mode { LINK_OFF, LINK_RATE, LINK_AUTO };

/* What one worker tells the others. */
struct link_line {
    _Alignas(64) _Atomic uint64_t queued; /* bytes in the kernel, as known */
    _Atomic uint64_t waiting_key;         /* of its next; UINT64_MAX: none */
};

struct link_shared {
    _Alignas(64) _Atomic uint64_t limit;   /* of LINK_AUTO */
    _Alignas(64) _Atomic uint64_t busy_ns; /* of LINK_RATE: until when what
                                              has been handed over keeps the
                                              link busy */
    _Alignas(64)
        uint64_t rate; /* of LINK_RATE: bytes a second that may leave */
    uint64_t burst;    /* of LINK_RATE: how deep the bucket is */
    size_t worker_count;
    struct link_line *lines;
    enum link_mode mode;
};

/* 0 or -ENOMEM. rate: of the link, in bytes a second, for LINK_RATE. */
MUST_USE int link_shared_init(struct link_shared *shared, enum link_mode mode,
                              uint64_t rate, size_t worker_count);
void link_shared_fini(struct link_shared *shared);

/* Inside each connection: what of it is in the kernel. */
struct link_flow {
    struct list link;
    int fd;
    uint32_t queued; /* bytes, as last known */
    uint64_t key;    /* in the scheduler's order; 0: all handed over */
    bool is_bounded; /* its unsent bytes are (LINK_UNSENT_MAX) */
};

struct link_counters {
    uint64_t held;       /* times a response was refused */
    uint64_t held_bytes; /* that it would have sent */
    uint64_t measured;   /* system calls made to look */
};

struct link {
    struct link_shared *shared;
    struct link_line *line;
    struct link_counters counters;
    bool is_engaged; /* flows are tracked, limits hold */
    /* private */
    struct list flows;
    uint64_t queued;      /* of all flows */
    uint64_t measured_ns; /* when they were last looked at */
    uint64_t unprobed;    /* bytes sent since the last probe */
    struct link_flow *probe;
    uint64_t probe_ms;
    bool was_held; /* since the last tick */
};

void link_init(struct link *link, struct link_shared *shared, size_t worker);

static inline void link_flow_init(struct link_flow *flow, int fd)
{
    *flow = (struct link_flow){.fd = fd};
    list_init(&flow->link);
}

/* How many bytes flow may hand over now: want, fewer, or 0: it is to wait and
 * be asked about again at the next tick. key is its place in the order. */
uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want);

/* Notes that flow handed bytes over, and has left what key says (0: all
 * gone). now_ms is the turn's. */
void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms);

/* Its client has received everything, or it is closed. */
void link_drop(struct link *link, struct link_flow *flow);

/* A tick: looks at the queue and adapts the limit. */
void link_tick(struct link *link);

/* Tells the others what waits here (UINT64_MAX: nothing). */
void link_publish(struct link *link, uint64_t waiting_key);

/* Whether its descriptor must stay open for a while after the last byte was
 * handed over, since it is measured by it. */
static inline bool link_watches(const struct link *link,
                                const struct link_flow *flow)
{
    return !list_is_empty(&flow->link) || link->probe == flow;
}

#endif
