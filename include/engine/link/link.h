/*
 * link - holds bytes back, so that the scheduler decides the order of sending,
 * and not the queues in the kernel.
 *
 * Sockets take megabytes, and bytes that were handed over leave in the kernel's
 * order. So choosing the shortest response first changes nothing while all
 * responses can be handed over at once. This module says how many bytes may be
 * handed over at any time; bytes that are refused wait in the scheduler, where
 * a shorter response can still pass them.
 *
 *   off   nothing is held back.
 *   rate  the link's rate is known. A token bucket, which counts bytes on the
 *         wire, lets them go at LINK_RATE_PERCENT of the rate. The bucket is
 *         LINK_BURST_BYTES deep, or, if that is more, as deep as keeps the link
 *         busy for two ticks, even for late ones.
 *   auto  the rate is estimated, in one of two ways. If the link is
 *         - on this machine: the bytes between socket and wire (in the queueing
 *           discipline and the driver, SO_MEMINFO) are kept below a limit that
 *           follows the link, as the kernel's dynamic queue limits do. The
 *           limit grows when the queue is found empty while bytes are held
 *           back, and shrinks when the queue is found more than half full
 *           (link_queue_limit.c). link_pacer_adapt() estimates the rate from
 *           the bytes that leave the queue; once the rate is known, a bucket
 *           takes over, whose pace stays just below the rate (link_pacer.c);
 *         - further away, where only acknowledgements tell: the bytes not yet
 *           acknowledged are kept within a window that leaves a short queue
 *           standing at the narrowest place (link_delay_window.c).
 *         A link whose queue is always found empty is fast: nothing is held
 *         back or measured any more, until a probe finds a queue again. Bytes
 *         for clients on this machine are never held back.
 *
 * Only bytes of responses that come earlier in the order, or are equal in it,
 * count against a response. So a short response is never refused because of a
 * long one's bytes. This is pre-emption; a short response still waits for at
 * most one limit of bytes that were handed over before.
 *
 * All workers share one limit, one window or one bucket. Each worker publishes
 * what it has in the kernel on cache lines of its own, without locks. A worker
 * that has not looked for a while publishes an old number. So the worker that
 * adapts the limit or the pace asks the kernel about two flows of each other
 * worker: otherwise a queue of another worker's bytes would seem to be empty,
 * and the pace would rise for ever. (The descriptor of such a flow may already
 * belong to something else. This does no harm: the kernel is only asked how
 * many bytes are queued.) A worker whose next response is not the first of all
 * workers' sends only as much as keeps the link busy.
 *
 * Thread: struct link is one worker's. struct link_shared is shared by relaxed
 *         atomics: its numbers only steer, and nothing else depends on them.
 * Owns:   the list of flows, not the flows; struct link_shared owns its lines.
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
    LINK_OPEN_PACKETS = 4,    /* each connection's packets without data */
    LINK_TICK_NS = 500000,    /* time after which held flows are looked at
                                 again */
    LINK_LATE_NS = 8000000,   /* a tick never counts as later than this */
    LINK_TURN_NS = 100000,    /* policy fair: time that a turn fills the link */
    LINK_LIMIT_MIN = 4096,    /* smallest limit of the local queue, in bytes */
    LINK_LIMIT_PACED = 32768, /* smallest limit while the pace is known */
    LINK_LIMIT_START = 65536,
    LINK_LIMIT_MAX = 4 * 1048576, /* with a higher limit the link counts as
                                     fast */
    LINK_UNSENT_MAX = 2048,       /* most unsent bytes in the socket of a flow
                                     that is held back */
    /* Bytes between two probes of a fast link, at first. */
    LINK_PROBE_BYTES = 65536,
    /* Bytes between two probes when none finds anything. */
    LINK_PROBE_BYTES_MAX = 1048576,
    /* Bytes between two probes when the queues they find never last. */
    LINK_PROBE_BYTES_REST = 1 << 30,
    LINK_PROBE_MS = 2, /* a queue counts when it stands this long */
    /* The shortest time between two searches for delays while few bytes are
     * sent. */
    LINK_PROBE_LATE_MS = 10,
    LINK_UNHELD_BYTES = 1048576, /* bytes that must be sent without a hold
                                    before the limit rises */
    LINK_PATHS = 512             /* most clients whose least round trip is
                                    kept */
};

enum link_mode { LINK_OFF, LINK_RATE, LINK_AUTO };

/* What one worker publishes for the others. */
struct link_line {
    _Alignas(64) _Atomic uint64_t queued; /* bytes in the local queue */
    _Atomic uint64_t seen_ns;             /* when queued was measured */
    _Atomic uint64_t flight;              /* bytes in flight, divided by span_us
                                             of struct link */
    _Atomic uint64_t passing;             /* bytes a second that come through */
    _Atomic uint64_t standing;            /* bytes in a remote queue */
    _Atomic uint64_t looked_ns;           /* when flight, passing and standing
                                             were measured */
    _Atomic uint64_t handed;              /* bytes on the wire since the start,
                                             without unsent ones */
    _Atomic uint64_t last_fd;             /* descriptor of the flow that was
                                             handed bytes last */
    _Atomic uint64_t most_fd;             /* descriptor of the flow with most
                                             queued bytes; UINT64_MAX: none */
    _Atomic uint64_t news;                /* how often the worker has looked or
                                             handed over */
    _Atomic uint64_t gone;                /* the value of news when another
                                             worker found that these bytes had
                                             left */
    _Atomic uint64_t waiting_rank;        /* rank of the next response, or
                                             UINT64_MAX */
    _Atomic uint64_t sent;                /* bytes of responses since the
                                             start */
    _Atomic uint64_t clients;             /* clients that wait */
    /* The name of the client that waits, if only one waits. */
    _Atomic uint64_t only_client;
    _Atomic uint64_t parts; /* client_share_parts() of the clients that wait */
    /* The marks of the clients that wait: client_marks.h. */
    _Atomic uint64_t marks[CLIENT_MARKS_WORDS];
};

struct link_shared {
    /* These change now and then. `rate` is an estimate of the link's rate.
     * `pacer` is derived from `rate`: the pace at which the bucket lets bytes
     * go. */
    _Alignas(64) _Atomic uint64_t pacer; /* bytes a second on the wire that may
                                            leave; 0: not known yet */
    _Atomic uint64_t rate;      /* bytes a second that leave a busy queue */
    _Atomic uint64_t crest;     /* the pace to which pacer comes back quickly */
    _Atomic uint64_t rises;     /* how often pacer has risen in a row */
    _Atomic uint64_t paced;     /* 1 if the bucket has held bytes back */
    _Atomic uint64_t left;      /* bytes that had left the queue at since_ns */
    _Atomic uint64_t since_ns;  /* when the rate was last judged */
    _Atomic uint64_t judged_ns; /* when the queue was last measured */
    _Atomic uint64_t least;     /* fewest bytes in the queue since since_ns */
    _Atomic uint64_t limit;     /* limit of bytes in the local queue */
    _Atomic uint64_t limit_ns;  /* when the limit was last moved */
    _Atomic uint64_t window;    /* bytes a second, see link_delay_window.c; 0:
                                   no window */
    _Atomic uint64_t window_ns; /* when window was last moved */
    _Atomic uint64_t trip_us;   /* a recent round trip */
    _Atomic uint64_t near_us;   /* the smallest recent round trip of all
                                   paths */
    _Atomic uint64_t windowed;  /* what has held bytes back; 1: the window's
                                   pace, 2: the window */
    _Atomic uint64_t windowed_ns; /* when window or pace last held bytes back */
    _Atomic uint64_t long_ns;     /* when the window's queue became much too
                                     long, or when the window was last cut for
                                     it; 0: the queue is not too long */
    size_t worker_count;
    struct link_line *lines;
    enum link_mode mode;
    /* The time until which the bytes handed over keep the link busy. It changes
     * all the time. */
    _Alignas(64) _Atomic uint64_t busy_ns;
    char rest_of_line[56]; /* no other member shares this cache line */
};

/* Returns 0 or -ENOMEM. LINK_RATE needs `rate`, the link's rate in bytes a
 * second. */
MUST_USE int link_shared_init(struct link_shared *shared, enum link_mode mode,
                              uint64_t rate, size_t worker_count);
void link_shared_fini(struct link_shared *shared);

/* A connection's bytes that the kernel has; embedded in the connection. */
struct link_flow {
    struct list link;
    unsigned fd : 30;
    unsigned is_bounded : 1; /* the socket's unsent bytes are limited to
                                LINK_UNSENT_MAX */
    unsigned is_fresh : 1;   /* bytes were handed over lately */
    uint32_t path;   /* hash of the client's address; 0: the client is on this
                        machine */
    uint32_t queued; /* bytes in the local queue, as last known */
    uint32_t flight; /* unacknowledged bytes, as last known */
    uint64_t key;    /* key of the bytes left to send; 0: nothing is left */
};

struct link_counters {
    uint64_t held;       /* how often a response was refused */
    uint64_t held_bytes; /* bytes that were refused */
    uint64_t measured;   /* system calls made to measure */
};

/* The smallest recent round trip to a client. */
struct link_path {
    uint32_t path;
    uint32_t least_us;      /* least round trip in the present period */
    uint32_t last_least_us; /* least round trip in the period before */
    uint32_t since_s;       /* when the present period began */
};

struct link {
    struct link_shared *shared;
    struct link_line *line;
    struct link_counters counters;
    uint64_t base; /* sched_base(); the owner keeps it up to date */
    /* private, except is_local */
    struct list flows;
    uint64_t queued;    /* bytes of all flows in the local queue */
    uint64_t flight;    /* bytes of all flows in flight */
    uint64_t standing;  /* bytes in flight that seem to stand in a queue */
    uint64_t seen_ns;   /* when the local queue was last measured */
    uint64_t looked_ns; /* when the flights were last measured */
    uint64_t looked;    /* the value of `flight` at looked_ns */
    uint64_t handed;    /* bytes on the wire since the start */
    uint64_t unsent;    /* the part of handed that was in sockets at
                           counted_ns */
    uint64_t counted_ns;
    uint64_t news;          /* as in struct link_line */
    struct link_flow *last; /* the flow that was handed bytes last */
    struct link_flow *most; /* the flow with most queued bytes */
    uint64_t due_ns;        /* when the next tick is due; 0: no tick is due */
    uint64_t late_ns;       /* how late recent ticks were */
    uint64_t unheld;        /* bytes sent since bytes were last held back */
    uint64_t unprobed;      /* bytes sent since the last probe */
    uint64_t probe_bytes;   /* bytes to be sent until the next probe */
    uint64_t probe_bytes_max;
    struct link_flow *probe;
    uint64_t probe_ms;
    uint64_t asked_ms; /* when a delay was last looked for */
    int64_t trip_us;   /* average round trip of the flights */
    uint64_t least_us; /* smallest round trip of the flights; 0: not known */
    uint64_t span_us;  /* least_us plus the time for which the target queue
                          lasts; window * span_us may be in flight */
    /* The window's pace, in bytes a second; 0: no pace. */
    uint64_t window_pacer;
    uint32_t delay_us; /* delay of the last flow that was found delayed */
    uint32_t delayed;  /* flows in a row with about the same delay */
    bool is_local;     /* the local queue is kept short */
    bool was_found;    /* a queue was found since is_local was set */
    bool was_held;     /* the limit has held bytes back since the last tick */
    bool was_paced;    /* the bucket has held bytes back since the last tick */
    bool was_windowed; /* the window has held bytes back since the last tick */
    struct link_path *paths;
};

/* Returns 0 or -ENOMEM. */
MUST_USE int link_init(struct link *link, struct link_shared *shared,
                       size_t worker);
void link_fini(struct link *link);

/* Fills in `flow` for a new connection to `peer`, whose descriptor is `fd`. */
void link_open(struct link *link, struct link_flow *flow, int fd,
               const struct address *peer);

static inline uint64_t link_load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* Whether a delay window is in force. */
static inline bool link_is_windowed(const struct link *link)
{
    return link_load(&link->shared->window) > 0;
}

/* Whether the link measures how many of the bytes handed over are still on
 * their way. */
static inline bool link_tracks(const struct link *link)
{
    return link->is_local || link_is_windowed(link);
}

/* Whether bytes of `flow` may have to wait. */
static inline bool link_holds_back(const struct link *link,
                                   const struct link_flow *flow)
{
    return link->shared->mode == LINK_RATE ||
           (link->shared->mode == LINK_AUTO && flow->path != 0 &&
            link_tracks(link));
}

/* Whether link_allow() would allow all bytes, whatever `key` is. */
static inline bool link_lets_all(const struct link *link,
                                 const struct link_flow *flow)
{
    return !flow->is_bounded && !link_holds_back(link, flow);
}

/* Returns how many of `want` bytes `flow` may hand over now. If none, the flow
 * has to wait until the next tick. `key` is the key of the flow's next
 * response. */
uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want);

/* Returns how many bytes a flow sends in its turn under the policy fair:
 * `quantum`, or less if bytes are held back. Otherwise a newcomer would wait
 * for a large quantum of each flow. */
uint64_t link_quantum(const struct link *link, const struct link_flow *flow,
                      uint64_t quantum);

/* Whether link_handed() has to be called for `flow`. */
static inline bool link_counts(const struct link *link,
                               const struct link_flow *flow)
{
    return link->shared->mode == LINK_RATE ||
           (link->shared->mode == LINK_AUTO && flow->path != 0);
}

/* Notes that `flow` has handed over `bytes` bytes. `key` is the key of the
 * bytes left to send, or 0 when nothing is left, and matters only while
 * link_tracks(). `now_ms` is the time of the turn. */
void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms);

/* Forgets `flow`, because the client has received everything or the connection
 * is closed. */
void link_drop(struct link *link, struct link_flow *flow);

/* Notes that bytes are held back, so that the next tick is due in
 * LINK_TICK_NS. */
void link_await(struct link *link);

/* Called at each tick: measures the queue and adapts the limit. */
void link_tick(struct link *link);

/* Whether this worker has to share the link with others. */
static inline bool link_has_others(const struct link *link)
{
    return link->shared->worker_count > 1 && link->shared->mode != LINK_OFF;
}

/* Publishes for other workers what this worker has under way. `waiting_key` is
 * the key of its next response, or UINT64_MAX when no response waits. */
void link_publish(struct link *link, uint64_t waiting_key);

/* Publishes for other workers the clients that wait here, and `sent`, the bytes
 * of responses sent since the start. */
void link_tell_clients(struct link *link, const struct client_share *clients,
                       uint64_t sent);

/* Calls client_share_hear() with what the other workers have published, since
 * shares are shares of the whole link. When a single client waits at this
 * worker and at all others, `clients` hears of no other clients. */
void link_hear_clients(const struct link *link, struct client_share *clients);

/* Counts the other workers that have published that a client with `mark` waits
 * there. This is count_elsewhere() of struct client_share; `of_link` is the
 * link. */
uint32_t link_count_elsewhere(const void *of_link, uint32_t mark);

/* Returns the bytes of responses that the other workers have published as
 * sent. */
uint64_t link_sent_elsewhere(const struct link *link);

/* The state of the link, as far as this worker knows. */
struct link_state {
    bool is_engaged;      /* bytes may be held back */
    uint64_t limit_bytes; /* limit of the bucket, local queue or window */
    uint64_t rate;        /* bytes a second on the wire; 0: not known */
    uint64_t delay_us;    /* time until all that was handed over has left */
};

void link_look(const struct link *link, struct link_state *state_out);

/* Whether the flow's descriptor must stay open for a while after its last byte
 * was handed over, since it is needed to measure the flow. */
static inline bool link_watches(const struct link *link,
                                const struct link_flow *flow)
{
    return !list_is_empty(&flow->link) || link->probe == flow;
}

#endif
