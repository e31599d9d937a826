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
 *         wire, lets them go at LINK_RATE_PERCENT of the rate. The depth of the
 *         bucket is LINK_BURST_BYTES, or what the link carries in two ticks if
 *         that is more; a late tick counts with its real length.
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
 * what it has in the kernel on cache lines of its own, without locks. The
 * numbers of a worker that has not measured for a while are old. So the worker
 * that adapts the limit or the pace asks the kernel about two flows of each
 * other worker. Otherwise old numbers could make a queue seem empty, and the
 * pace would rise for ever. (The descriptor of such a flow may already belong
 * to something else. This does no harm: the kernel is only asked how many bytes
 * are queued.) While a response of another worker comes first in the order, a
 * worker sends only as much as keeps the link busy.
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
    LINK_HEADER_BYTES = 66, /* a packet's headers: Ethernet, IPv4, TCP */
    LINK_SEGMENT_BYTES = 1448,
    LINK_OPEN_PACKETS = 4, /* packets without data that each connection costs */
    /* Time between two looks at the flows that are held back. */
    LINK_TICK_NS = 500000,
    /* A tick that is later than this counts as this late. */
    LINK_LATE_NS = 8000000,
    /* Under the policy fair, a flow's turn keeps the link busy for this
     * time. */
    LINK_TURN_NS = 100000,
    LINK_LIMIT_MIN = 4096,    /* smallest limit of the local queue, in bytes */
    LINK_LIMIT_PACED = 32768, /* smallest limit while the pace is known */
    LINK_LIMIT_START = 65536,
    /* A link that needs a higher limit counts as fast. */
    LINK_LIMIT_MAX = 4 * 1048576,
    /* Most unsent bytes in the socket of a flow that is held back. */
    LINK_UNSENT_MAX = 2048,
    /* Bytes between two probes of a fast link, at first. */
    LINK_PROBE_BYTES = 65536,
    /* Most bytes between two probes, if no probe finds a queue. */
    LINK_PROBE_BYTES_MAX = 1048576,
    /* Most bytes between two probes, if every queue that a probe finds is gone
     * soon. */
    LINK_PROBE_BYTES_REST = 1 << 30,
    LINK_PROBE_MS = 2, /* a queue counts if it lasts this long */
    /* A narrow link takes long to carry the bytes between two probes. Meanwhile
     * a delay is looked for, but not more often than once in this time. */
    LINK_PROBE_LATE_MS = 10,
    /* After so many bytes, of which none were held back, the limit rises. */
    LINK_UNHELD_BYTES = 1048576,
    /* The largest number of clients whose least round trip is remembered. */
    LINK_PATHS = 512
};

enum link_mode { LINK_OFF, LINK_RATE, LINK_AUTO };

/* What one worker publishes for the others. */
struct link_line {
    _Alignas(64) _Atomic uint64_t queued; /* bytes in the local queue */
    _Atomic uint64_t seen_ns;             /* when `queued` was measured */
    /* The bytes in flight as a rate: divided by span_us of struct link. */
    _Atomic uint64_t flight;
    /* Bytes a second that come through the narrowest place of the path. */
    _Atomic uint64_t passing;
    _Atomic uint64_t standing; /* bytes that stand in a remote queue */
    /* When `flight`, `passing` and `standing` were measured. */
    _Atomic uint64_t looked_ns;
    /* Bytes handed over since the start, headers included. Bytes that are
     * unsent in sockets do not count. */
    _Atomic uint64_t handed;
    /* Descriptor of the flow that handed over bytes last; UINT64_MAX: none. */
    _Atomic uint64_t last_fd;
    /* Descriptor of the flow with most queued bytes; UINT64_MAX: none. */
    _Atomic uint64_t most_fd;
    /* How often the worker has measured its queue or handed bytes over. */
    _Atomic uint64_t news;
    /* The value of `news` when another worker found this worker's queue
     * empty. */
    _Atomic uint64_t gone;
    /* Rank of the waiting response that is next; UINT64_MAX: none waits. */
    _Atomic uint64_t waiting_rank;
    _Atomic uint64_t sent;    /* response bytes sent so far */
    _Atomic uint64_t clients; /* clients that wait */
    /* The name of the only client that waits; 0: none or several wait. */
    _Atomic uint64_t only_client;
    _Atomic uint64_t parts; /* client_share_parts() of the clients that wait */
    /* The marks of the clients that wait: client_marks.h. */
    _Atomic uint64_t marks[CLIENT_MARKS_WORDS];
};

struct link_shared {
    /* These change now and then. `rate` is an estimate of the link's rate.
     * `pacer` is derived from `rate`: the pace at which the bucket lets bytes
     * go. */
    /* Bytes a second, headers included, that may leave; 0: not known yet. */
    _Alignas(64) _Atomic uint64_t pacer;
    _Atomic uint64_t rate; /* bytes a second that leave a busy queue */
    /* The pace up to which `pacer` comes back quickly (link_pacer.c). */
    _Atomic uint64_t crest;
    _Atomic uint64_t rises;     /* how often `pacer` has risen in a row */
    _Atomic uint64_t paced;     /* 1: bytes were held back since since_ns */
    _Atomic uint64_t left;      /* bytes that had left the queue at since_ns */
    _Atomic uint64_t since_ns;  /* when the rate was last judged */
    _Atomic uint64_t judged_ns; /* when the queue was last measured */
    _Atomic uint64_t least;     /* fewest bytes in the queue since since_ns */
    _Atomic uint64_t limit;     /* most bytes allowed in the local queue */
    _Atomic uint64_t limit_ns;  /* when the limit was last moved */
    /* The window, in bytes a second (link_delay_window.c); 0: no window. */
    _Atomic uint64_t window;
    _Atomic uint64_t window_ns; /* when `window` was last moved */
    _Atomic uint64_t trip_us;   /* a recent round trip */
    /* The smallest recent round trip of all paths. */
    _Atomic uint64_t near_us;
    /* What has held bytes back since `window` was last moved: 0 nothing, 1 the
     * window's pace, 2 the window itself. */
    _Atomic uint64_t windowed;
    /* When the window or its pace last held bytes back. */
    _Atomic uint64_t windowed_ns;
    /* When the remote queue became much too long, or when the window was last
     * cut because of it; 0: the queue is not too long. */
    _Atomic uint64_t long_ns;
    size_t worker_count;
    struct link_line *lines;
    enum link_mode mode;
    /* The time until which the bytes handed over keep the link busy. It changes
     * all the time. */
    _Alignas(64) _Atomic uint64_t busy_ns;
    char rest_of_line[56]; /* no other member shares this cache line */
};

/* Fills in `shared`. With LINK_RATE, `rate` is the link's rate in bytes a
 * second; other modes ignore it. Returns 0 or -ENOMEM. */
MUST_USE int link_shared_init(struct link_shared *shared, enum link_mode mode,
                              uint64_t rate, size_t worker_count);
void link_shared_fini(struct link_shared *shared);

/* What is known of a connection's bytes in the kernel. The struct is embedded
 * in the connection. */
struct link_flow {
    struct list link;
    unsigned fd : 30;
    /* The socket's unsent bytes are limited to LINK_UNSENT_MAX. */
    unsigned is_bounded : 1;
    unsigned is_fresh : 1; /* bytes were handed over lately */
    /* Hash of the client's address; 0: the client is on this machine. */
    uint32_t path;
    uint32_t queued; /* bytes in the local queue, as last known */
    uint32_t flight; /* unacknowledged bytes, as last known */
    /* The scheduler's key of the bytes left to send; 0: nothing is left. */
    uint64_t key;
};

struct link_counters {
    uint64_t held;       /* how often bytes were held back */
    uint64_t held_bytes; /* bytes that were held back */
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
    uint64_t handed;    /* bytes handed over, headers included */
    /* The part of `handed` that was unsent in sockets at counted_ns. */
    uint64_t unsent;
    uint64_t counted_ns;
    uint64_t news;          /* as in struct link_line */
    struct link_flow *last; /* the flow that handed over bytes last */
    struct link_flow *most; /* the flow with most queued bytes */
    uint64_t due_ns;        /* when the next tick is due; 0: no tick is due */
    uint64_t late_ns;       /* average lateness of recent ticks */
    uint64_t unheld;        /* bytes sent since bytes were last held back */
    uint64_t unprobed;      /* bytes sent since the last probe */
    uint64_t probe_bytes;   /* bytes to be sent until the next probe */
    uint64_t probe_bytes_max;
    struct link_flow *probe;
    uint64_t probe_ms;
    uint64_t asked_ms; /* when a delay was last looked for */
    int64_t trip_us;   /* average round trip of the flights */
    /* Average of the least round trips of the flights' paths; 0: not known. */
    uint64_t least_us;
    /* least_us plus the time for which the target queue lasts. As many bytes
     * may be in flight as `window` allows in this time. */
    uint64_t span_us;
    /* The pace at which bytes leave into the window, in bytes a second; 0: no
     * pace. */
    uint64_t window_pacer;
    uint32_t delay_us; /* delay of the last flow that was found delayed */
    /* How many probed flows in a row had about the same delay. */
    uint32_t delayed;
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

/* Returns how many of `want` bytes `flow` may hand over now. `key` is the key
 * of the flow's next response. If the result is 0, the flow has to wait until
 * the next tick. */
uint64_t link_allow(struct link *link, struct link_flow *flow, uint64_t key,
                    uint64_t want);

/* Returns how many bytes a flow sends in its turn under the policy fair. The
 * result is `quantum`, or less while bytes of the flow may be held back: a
 * newcomer waits for one turn of each other flow, which must not take long. */
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
 * bytes left to send, or 0 when nothing is left; while link_tracks() is false,
 * `key` may have any value. `now_ms` is the time of the turn. */
void link_handed(struct link *link, struct link_flow *flow, uint64_t bytes,
                 uint64_t key, uint64_t now_ms);

/* Forgets `flow`, because the client has received everything or the connection
 * is closed. */
void link_drop(struct link *link, struct link_flow *flow);

/* Notes that bytes are held back. So a tick is due after LINK_TICK_NS. */
void link_await(struct link *link);

/* Called at each tick. Measures the queue, and adapts what holds bytes back:
 * the limit, the pace or the window. */
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

/* Calls client_share_hear() with the sums of what the other workers have
 * published, because clients share the whole link, and not one worker's part of
 * it. If only one client waits at all workers together, it shares the link with
 * nobody; then `clients` is told that no client waits elsewhere. */
void link_hear_clients(const struct link *link, struct client_share *clients);

/* Returns at how many other workers a client with `mark` waits, as they have
 * published; 0 while the link is fast. This function is the callback
 * count_elsewhere() of struct client_share; `of_link` is the struct link. */
uint32_t link_count_elsewhere(const void *of_link, uint32_t mark);

/* Returns how many bytes of responses the other workers have sent since the
 * start, as they have published. */
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
