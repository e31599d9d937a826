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
 * each other worker, as that worker may not look for a while: a queue in which
 * one worker has no part would seem to be empty, and the pace would rise for
 * ever. (By then the descriptor may be that of something else: the kernel is
 * only asked how much lies there.) A worker whose next response is not the very
 * next of all sends only to keep the link busy.
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
    LINK_OPEN_PACKETS = 4,    /* of a connection that carry no data */
    LINK_TICK_NS = 500000,    /* how soon held flows are looked at again */
    LINK_LATE_NS = 8000000,   /* how late a tick is reckoned to be at most */
    LINK_TURN_NS = 100000,    /* what each sends in its turn, as link time */
    LINK_LIMIT_MIN = 4096,    /* least limit of the local queue, bytes */
    LINK_LIMIT_PACED = 32768, /* least limit while the pace is known */
    LINK_LIMIT_START = 65536,
    LINK_LIMIT_MAX = 4 * 1048576, /* beyond it the link is called fast */
    LINK_UNSENT_MAX = 2048,       /* per socket, while bytes are held back */
    /* Bytes between two probes of a fast link, at first. */
    LINK_PROBE_BYTES = 65536,
    /* Bytes between two probes when none finds anything. */
    LINK_PROBE_BYTES_MAX = 1048576,
    /* Bytes between two probes when what they find is no queue. */
    LINK_PROBE_BYTES_REST = 1 << 30,
    LINK_PROBE_MS = 2, /* a queue that stands for so long counts */
    /* Delays are looked for no more often, while few bytes are sent. */
    LINK_PROBE_LATE_MS = 10,
    LINK_UNHELD_BYTES = 1048576, /* unheld in a row: the limit may be too low */
    LINK_PATHS = 512             /* clients whose least round trip is known */
};

enum link_mode { LINK_OFF, LINK_RATE, LINK_AUTO };

/* What one worker tells the others. */
struct link_line {
    _Alignas(64) _Atomic uint64_t queued; /* bytes in the local queue */
    _Atomic uint64_t seen_ns;             /* when queued was looked at */
    _Atomic uint64_t flight;              /* bytes a second in flight */
    _Atomic uint64_t passing;             /* bytes a second coming through */
    _Atomic uint64_t standing;            /* bytes in a remote queue */
    _Atomic uint64_t looked_ns;           /* when these three were looked at */
    _Atomic uint64_t handed;              /* bytes on the wire since ever,
                                             without what sockets keep */
    _Atomic uint64_t last_fd;             /* of the flow that was handed
                                             something last */
    _Atomic uint64_t most_fd;             /* of the flow that had most in
                                             the queue; UINT64_MAX: none */
    _Atomic uint64_t news;                /* times it looked, or handed over */
    _Atomic uint64_t gone;                /* value of news when another worker
                                             found all of the queue gone */
    _Atomic uint64_t waiting_rank;        /* rank of its next, or UINT64_MAX */
    _Atomic uint64_t sent;                /* bytes of responses since ever */
    _Atomic uint64_t clients;             /* clients that wait */
    /* The client that waits, if there is only one. */
    _Atomic uint64_t only_client;
    _Atomic uint64_t parts; /* those clients' client_share_parts() */
    /* Which clients wait: client_marks.h. */
    _Atomic uint64_t marks[CLIENT_MARKS_WORDS];
};

struct link_shared {
    /* These change now and then. rate estimates the link's; pacer is the pace
     * that is made of it, at which the bucket lets bytes go. */
    _Alignas(64) _Atomic uint64_t pacer; /* bytes a second on the wire that may
                                           leave; 0: not known yet */
    _Atomic uint64_t rate;      /* bytes a second that leave a busy queue */
    _Atomic uint64_t crest;     /* the pace that pacer comes back to quickly */
    _Atomic uint64_t rises;     /* how often pacer rose in a row */
    _Atomic uint64_t paced;     /* 1: the bucket holds something back */
    _Atomic uint64_t left;      /* bytes that had left at since_ns */
    _Atomic uint64_t since_ns;  /* when the rate was last judged */
    _Atomic uint64_t judged_ns; /* when the queue was last looked at */
    _Atomic uint64_t least;     /* fewest bytes in the queue since then */
    _Atomic uint64_t limit;     /* most bytes in the local queue */
    _Atomic uint64_t limit_ns;  /* when the limit was moved */
    _Atomic uint64_t window;    /* bytes a second, see link_delay_window.c;
                                           0: there is none */
    _Atomic uint64_t window_ns; /* when window was moved */
    _Atomic uint64_t trip_us;   /* a recent round trip */
    _Atomic uint64_t near_us;   /* least recent round trip of all paths */
    _Atomic uint64_t windowed;  /* 1: the window's pace held back; 2: it did */
    _Atomic uint64_t windowed_ns; /* when either last held bytes back */
    _Atomic uint64_t long_ns;     /* since when the window's queue is much too
                                     long, or was called so; 0: it is not */
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

/* Lies inside each connection: what the kernel has of its bytes. */
struct link_flow {
    struct list link;
    unsigned fd : 30;
    unsigned is_bounded : 1; /* to LINK_UNSENT_MAX unsent bytes */
    unsigned is_fresh : 1;   /* it was handed something lately */
    uint32_t path;   /* hash of the client's address; 0: the client is on this
                        machine */
    uint32_t queued; /* bytes in the local queue, as last known */
    uint32_t flight; /* bytes not acknowledged, as last known */
    uint64_t key;    /* place in the scheduler's order; 0: all handed over */
};

struct link_counters {
    uint64_t held;       /* times that a response was refused */
    uint64_t held_bytes; /* bytes so refused */
    uint64_t measured;   /* system calls made to look */
};

/* The least round trip to a client lately. */
struct link_path {
    uint32_t path;
    uint32_t least_us;      /* in the present period */
    uint32_t last_least_us; /* in the period before */
    uint32_t since_s;       /* when the present period began */
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
    uint64_t standing;  /* bytes of flight thought to stand in a queue */
    uint64_t seen_ns;   /* when the local queue was last looked at */
    uint64_t looked_ns; /* when acknowledgements were last looked at */
    uint64_t looked;    /* flight at looked_ns */
    uint64_t handed;    /* bytes on the wire since the start */
    uint64_t unsent;    /* of handed, bytes still in sockets at counted_ns */
    uint64_t counted_ns;
    uint64_t news;          /* see link_line */
    struct link_flow *last; /* the flow last handed something */
    struct link_flow *most; /* the flow with most in the queue */
    uint64_t due_ns;        /* the next tick; 0: none */
    uint64_t late_ns;       /* how late ticks have been lately */
    uint64_t unheld;        /* bytes sent since some were last held */
    uint64_t unprobed;      /* bytes sent since the last probe */
    uint64_t probe_bytes;   /* sent until the next probe */
    uint64_t probe_bytes_max;
    struct link_flow *probe;
    uint64_t probe_ms;
    uint64_t asked_ms; /* when delays were last looked for */
    int64_t trip_us;   /* average round trip of what was in flight */
    uint64_t least_us; /* its least round trip; 0: not known */
    uint64_t span_us;  /* least round trip plus the time of the queue aimed at:
                          window times this may be in flight */
    /* Bytes a second that may leave for the window; 0: as they come. */
    uint64_t window_pacer;
    uint32_t delay_us; /* of the last flow that was found delayed */
    uint32_t delayed;  /* such flows in a row, delayed alike */
    bool is_local;     /* the local queue is kept short */
    bool was_found;    /* a queue was found since is_local was set */
    bool was_held;     /* the limit has held bytes back since the last tick */
    bool was_paced;    /* the bucket has held bytes back since the last tick */
    bool was_windowed; /* the window has held bytes back since the last tick */
    struct link_path *paths;
};

/* 0 or -ENOMEM. */
MUST_USE int link_init(struct link *link, struct link_shared *shared,
                       size_t worker);
void link_fini(struct link *link);

/* A connection to peer begins, with descriptor fd; fills in flow. */
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

/* What a flow sends when all go in turns: quantum, or less where bytes are held
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

/* Notes that flow handed bytes over. key is that of what is left, 0 when
 * nothing is; it matters while link_tracks(). now_ms is the turn's. */
void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms);

/* Forgets flow: its client has received all, or its connection is closed. */
void link_drop(struct link *link, struct link_flow *flow);

/* Notes that something is held: the next tick is due in LINK_TICK_NS. */
void link_await(struct link *link);

/* A tick: looks at the queue and adapts the limit. */
void link_tick(struct link *link);

/* Whether this worker has to share the link with others. */
static inline bool link_has_others(const struct link *link)
{
    return link->shared->worker_count > 1 && link->shared->mode != LINK_OFF;
}

/* Tells other workers the key of what goes next (UINT64_MAX: none). */
void link_publish(struct link *link, uint64_t waiting_key);

/* Tells the other workers of the clients that wait here, and of the bytes of
 * responses that were sent since ever. */
void link_tell_clients(struct link *link, const struct client_share *clients,
                       uint64_t sent);

/* Tells clients what the other workers have published of theirs, as shares are
 * of the whole link. When one client waits here alone, and the same one alone
 * elsewhere, no other clients are told of. */
void link_hear_clients(const struct link *link, struct client_share *clients);

/* Counts the other workers at which a client with that mark waits, by what they
 * have told: client_share's count_elsewhere, the context is the link. */
uint32_t link_count_elsewhere(const void *of_link, uint32_t mark);

/* Bytes of responses that the other workers have published as sent. */
uint64_t link_sent_elsewhere(const struct link *link);

/* How the link is now, as far as this worker knows. */
struct link_state {
    bool is_engaged;      /* bytes are held back where necessary */
    uint64_t limit_bytes; /* of the bucket, the local queue or the window */
    uint64_t rate;        /* bytes a second on the wire; 0: not known */
    uint64_t delay_us;    /* time until all that was handed over has left */
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
