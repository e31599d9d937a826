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
 *         the link busy for two ticks, late as they are where others want the
 *         CPU, too; counting bytes on the wire.
 *   auto  the rate is found out, wherever the link is:
 *         - here: what lies between socket and wire (in the queueing
 *           discipline and the driver, SO_MEMINFO) is kept below a limit that
 *           follows the link, as the kernel's dynamic queue limits do. The
 *           limit grows when the queue is found empty while bytes are held
 *           back, and shrinks when the queue is found more than half full
 *           (link_queue_limit.c). link_pacer_adapt() estimates the rate from
 *           what leaves that queue; once the rate is known, a bucket whose pace
 *           stays just below it takes over (link_pacer.c);
 *         - further away, where only acknowledgements tell: what is not yet
 *           acknowledged is kept within a window that leaves a short queue
 *           standing at the narrowest place (link_delay_window.c).
 *         A link that is always found empty is fast: nothing is held back or
 *         measured any more, until a probe finds a queue again. To clients on
 *         this machine there is no link.
 *
 * What counts against a response are the bytes of those before or equal to it
 * in the order only: a short one is never refused because of the bytes of a
 * long one. That is pre-emption, and it costs at most one limit of waiting.
 *
 * All workers share one limit, one window, or one bucket. Each worker publishes
 * what it has in the kernel on cache lines of its own; nothing is locked. The
 * worker that adapts the limit or the pace asks the kernel about two flows of
 * each other worker, since that may not look for a while: a queue in which one
 * worker has no part would seem to be empty, and the pace would rise for ever.
 * (By then the descriptor may be that of something else: the kernel is only
 * asked how much lies there.) A worker whose next response is not the very next
 * of all sends only to keep the link busy.
 *
 * Thread: struct link is one worker's; struct link_shared is shared, by
 *         atomics, relaxed: its numbers steer, nothing else depends on them.
 * Owns:   the list of flows, not the flows; the shared part its lines.
 */
#ifndef ENGINE_LINK_LINK_H
#define ENGINE_LINK_LINK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/address.h"
#include "base/bytes.h"
#include "base/list.h"
#include "engine/client_share.h"

enum {
    LINK_RATE_PERCENT = 97,
    LINK_BURST_BYTES = 8192,
    LINK_HEADER_BYTES = 66, /* Ethernet, IPv4, TCP with timestamps */
    LINK_SEGMENT_BYTES = 1448,
    LINK_OPEN_PACKETS = 4,    /* that a connection costs beside its data */
    LINK_TICK_NS = 500000,    /* how soon the held are looked at again */
    LINK_LATE_NS = 8000000,   /* that a tick is reckoned to be late at most */
    LINK_TURN_NS = 100000,    /* of the link, for each in turns */
    LINK_LIMIT_MIN = 4096,    /* of bytes in the local queue */
    LINK_LIMIT_PACED = 32768, /* at least, while the pace is known */
    LINK_LIMIT_START = 65536,
    LINK_LIMIT_MAX = 4 * 1048576, /* beyond it the link is called fast */
    LINK_UNSENT_MAX = 2048,       /* per socket, while bytes are held back */
    /* Sent between two probes of a fast link, at first. */
    LINK_PROBE_BYTES = 65536,
    /* Sent between two probes when none finds anything. */
    LINK_PROBE_BYTES_MAX = 1048576,
    /* Sent between two probes when what they find is no queue. */
    LINK_PROBE_BYTES_REST = 1 << 30,
    LINK_PROBE_MS = 2, /* a queue that stands so long is one */
    /* For how long delays are not looked for, once LINK_PROBE_BYTES were sent. */
    LINK_PROBE_LATE_MS = 10,
    LINK_UNHELD_BYTES = 1048576, /* sent in a row: what holds may be too much */
    LINK_PATHS = 512             /* clients whose least round trip is known */
};

enum link_mode { LINK_OFF, LINK_RATE, LINK_AUTO };

/* What one worker tells the others. */
struct link_line {
    _Alignas(64) _Atomic uint64_t queued; /* bytes in the local queue */
    _Atomic uint64_t seen_ns;             /* when it looked */
    _Atomic uint64_t flight;              /* bytes a second of the window */
    _Atomic uint64_t passing;             /* the same, that come through */
    _Atomic uint64_t standing;            /* bytes in a remote queue */
    _Atomic uint64_t looked_ns;           /* when it looked at these three */
    _Atomic uint64_t handed;              /* bytes on the wire since ever,
                                             without what sockets keep */
    _Atomic uint64_t last_fd;             /* of the flow that was handed
                                             something last */
    _Atomic uint64_t most_fd;             /* of the flow that had most in
                                             the queue; UINT64_MAX: none */
    _Atomic uint64_t news;                /* times it looked or handed over */
    _Atomic uint64_t gone;                /* these, when another worker found
                                             nothing of it in the queue */
    _Atomic uint64_t waiting_rank;        /* of its next; UINT64_MAX: none */
    _Atomic uint64_t sent;                /* bytes of responses since ever */
    _Atomic uint64_t clients;             /* clients that wait */
    /* The client that waits, if there is only one. */
    _Atomic uint64_t only_client;
    _Atomic uint64_t parts; /* of all clients that wait: client_share.h */
    /* Which clients wait: client_marks.h. */
    _Atomic uint64_t marks[CLIENT_MARKS_WORDS];
};

struct link_shared {
    /* These change now and then. rate is what is estimated of the link; pacer
     * is the pace that is made of it, at which the bucket lets bytes go. */
    _Alignas(64) _Atomic uint64_t pacer; /* bytes a second on the wire that may
                                           leave; 0: not known yet */
    _Atomic uint64_t rate;     /* bytes a second that leave a busy queue */
    _Atomic uint64_t crest;    /* the pace that it comes back to quickly */
    _Atomic uint64_t rises;    /* of the pace, in a row */
    _Atomic uint64_t paced;    /* 1: the bucket holds something back */
    _Atomic uint64_t left;     /* bytes that had left when it was last judged */
    _Atomic uint64_t since_ns; /* when it was last judged */
    _Atomic uint64_t judged_ns;   /* when it was last looked at */
    _Atomic uint64_t least;       /* bytes seen in the queue since then */
    _Atomic uint64_t limit;       /* of the local queue */
    _Atomic uint64_t limit_ns;    /* when the limit was moved */
    _Atomic uint64_t window;      /* bytes a second, see link_delay_window.c;
                                           0: there is none */
    _Atomic uint64_t window_ns;   /* when it was moved */
    _Atomic uint64_t trip_us;     /* a round trip lately */
    _Atomic uint64_t near_us;     /* the least of any path lately */
    _Atomic uint64_t windowed;    /* 1: its pace is in the way; 2: it is */
    _Atomic uint64_t windowed_ns; /* when it was last found to be */
    _Atomic uint64_t long_ns;     /* since when its queue is much too
                                           long, or was found to be so for a
                                           while; 0: it is not */
    size_t worker_count;
    struct link_line *lines;
    enum link_mode mode;
    /* Written all the time: until when what has been handed over keeps the
     * link busy. */
    _Alignas(64) _Atomic uint64_t busy_ns;
    char rest_of_line[56]; /* nothing else is to share it */
};

/* 0 or -ENOMEM. rate: of the link, in bytes a second, for LINK_RATE. */
MUST_USE int link_shared_init(struct link_shared *shared, enum link_mode mode,
                              uint64_t rate, size_t worker_count);
void link_shared_fini(struct link_shared *shared);

/* Inside each connection: what of it is in the kernel. */
struct link_flow {
    struct list link;
    unsigned fd : 30;
    unsigned is_bounded : 1; /* its unsent bytes are (LINK_UNSENT_MAX) */
    unsigned is_fresh : 1;   /* it was handed something lately */
    uint32_t path;   /* whose client it is: a hash of the address; 0: one of
                        this machine */
    uint32_t queued; /* bytes in the local queue, as last known */
    uint32_t flight; /* not acknowledged, as last known */
    uint64_t key;    /* in the scheduler's order; 0: all handed over */
};

struct link_counters {
    uint64_t held;       /* times a response was refused */
    uint64_t held_bytes; /* that it would have sent */
    uint64_t measured;   /* system calls made to look */
};

/* The least round trip to a client lately. */
struct link_path {
    uint32_t path;
    uint32_t least_us;      /* in this period */
    uint32_t last_least_us; /* in the one before */
    uint32_t since_s;       /* when this one began */
};

struct link {
    struct link_shared *shared;
    struct link_line *line;
    struct link_counters counters;
    uint64_t base; /* where keys begin; the owner keeps it up to date */
    /* private, but for is_local */
    struct list flows;
    uint64_t queued;    /* of all flows */
    uint64_t flight;    /* of all flows */
    uint64_t standing;  /* of flight, what is thought to stand in a queue */
    uint64_t seen_ns;   /* when the local queue was last looked at */
    uint64_t looked_ns; /* when acknowledgements were last looked at */
    uint64_t looked;    /* flight at looked_ns */
    uint64_t handed;    /* bytes on the wire since the start */
    uint64_t unsent;    /* of handed, bytes still in sockets at counted_ns */
    uint64_t counted_ns;
    uint64_t news;          /* see link_line */
    struct link_flow *last; /* that was handed something */
    struct link_flow *most; /* that has most in the queue */
    uint64_t due_ns;        /* the next tick; 0: none */
    uint64_t late_ns;       /* that ticks have been lately */
    uint64_t unheld;        /* bytes sent since any were held */
    uint64_t unprobed;      /* bytes sent since the last probe */
    uint64_t probe_bytes;   /* that are sent until the next */
    uint64_t probe_bytes_max;
    struct link_flow *probe;
    uint64_t probe_ms;
    uint64_t asked_ms; /* when delays were looked for */
    int64_t trip_us;   /* a round trip, on average, */
    uint64_t least_us; /* and the least, of what was in flight; 0: not known */
    uint64_t span_us;  /* for which bytes are in flight, with the queue that is
                          aimed at */
    /* Bytes a second that may leave for the window; 0: as they come. */
    uint64_t window_pacer;
    uint32_t delay_us; /* of the last flow that was found delayed */
    uint32_t delayed;  /* in a row, much alike */
    bool is_local;     /* the local queue is kept short */
    bool was_found;    /* a local queue, since it is kept short */
    bool was_held;     /* the limit has held bytes back since the last tick */
    bool was_paced;    /* the bucket has held bytes back since the last tick */
    bool was_windowed; /* the window has held bytes back since the last tick */
    struct link_path *paths;
};

/* 0 or -ENOMEM. */
MUST_USE int link_init(struct link *link, struct link_shared *shared,
                       size_t worker);
void link_fini(struct link *link);

/* A connection begins. */
void link_open(struct link *link, struct link_flow *flow, int fd,
               const struct address *peer);

static inline uint64_t link_load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* Whether a window is up. */
static inline bool link_is_windowed(const struct link *link)
{
    return link_load(&link->shared->window) > 0;
}

/* Whether the link watches how much of what was handed over is on its way. */
static inline bool link_tracks(const struct link *link)
{
    return link->is_local || link_is_windowed(link);
}

/* Whether bytes of flow may have to wait. */
static inline bool link_holds_back(const struct link *link,
                                   const struct link_flow *flow)
{
    return link->shared->mode == LINK_RATE ||
           (link->shared->mode == LINK_AUTO && flow->path != 0 &&
            link_tracks(link));
}

/* Whether link_allow() would have nothing to do, whatever the key. */
static inline bool link_lets_all(const struct link *link,
                                 const struct link_flow *flow)
{
    return !flow->is_bounded && !link_holds_back(link, flow);
}

/* How many bytes flow may hand over now: want, fewer, or 0: it is to wait and
 * be asked about again at the next tick. key is its place in the order. */
uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want);

/* What each sends when they go in turns: quantum, or less where bytes are held
 * back, so that a newcomer does not wait for a large quantum of each. */
uint64_t link_quantum(const struct link *link, const struct link_flow *flow,
                      uint64_t quantum);

/* Whether link_handed() has to be told of flow. */
static inline bool link_counts(const struct link *link,
                               const struct link_flow *flow)
{
    return link->shared->mode == LINK_RATE ||
           (link->shared->mode == LINK_AUTO && flow->path != 0);
}

/* Notes that flow handed bytes over, and has left what key says (0: all gone;
 * it matters while link_tracks()). now_ms is the turn's. */
void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms);

/* The flow's client has received everything, or its connection is closed. */
void link_drop(struct link *link, struct link_flow *flow);

/* Something is held, and the next tick is due in LINK_TICK_NS. */
void link_await(struct link *link);

/* A tick: looks at the queue and adapts the limit. */
void link_tick(struct link *link);

/* Whether there are other workers, and the link is theirs, too. */
static inline bool link_has_others(const struct link *link)
{
    return link->shared->worker_count > 1 && link->shared->mode != LINK_OFF;
}

/* Tells the others what waits here (UINT64_MAX: nothing). */
void link_publish(struct link *link, uint64_t waiting_key);

/* Tells the other workers of the clients that wait here, and of the bytes of
 * responses that were sent since ever. */
void link_tell_clients(struct link *link, const struct client_share *clients,
                       uint64_t sent);

/* Has clients hear what the other workers have told of theirs: shares are of
 * the link, and of what all send. A client that waits alone here, and alone
 * there, is one client. */
void link_hear_clients(const struct link *link, struct client_share *clients);

/* Counts the other workers at which a client with that mark waits, by what they
 * have told: client_share's count_elsewhere, the context is the link. */
uint32_t link_count_elsewhere(const void *of_link, uint32_t mark);

/* Bytes of responses that the others have told of. */
uint64_t link_sent_elsewhere(const struct link *link);

/* How the link is now, as far as this worker knows. */
struct link_state {
    bool is_engaged;      /* bytes are held back where necessary */
    uint64_t limit_bytes; /* of the bucket, the local queue or the window */
    uint64_t rate;        /* bytes a second on the wire; 0: not known */
    uint64_t delay_us;    /* until what has been handed over has left */
};

void link_look(const struct link *link, struct link_state *state_out);

/* Whether the flow's descriptor must stay open for a while after the last byte
 * was handed over, since the flow is measured by it. */
static inline bool link_watches(const struct link *link,
                                const struct link_flow *flow)
{
    return !list_is_empty(&flow->link) || link->probe == flow;
}

#endif
