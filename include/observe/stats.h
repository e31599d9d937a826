/*
 * stats - each worker's counters and times.
 *
 * A worker writes only its own struct stats, by loads and stores without locks.
 * Any thread may read the structs of all workers at any time
 * (stats_snapshot.h). The acceptor and the main thread have small structs of
 * their own.
 *
 * Who calls what, when:
 *
 *   worker     stats_note_open()      a connection is taken over
 *              stats_note_exchange()  an answer is handed over, or given up
 *              stats_note_unsent()    the kernel has no unsent byte any more
 *              stats_note_overtake()  an answer is sent before one that has
 *                                     waited longer
 *              stats_set_queue()      the scheduler's queue has changed
 *              stats_note_close()     a connection is closed
 *              stats_tls_note()       a handshake is done, or has failed; see
 *                                     stats_tls.h
 *              stats_http2_note()     see stats_http2.h
 *              stats_tick()           once a second, together with
 *              stats_set_cache(), stats_set_link(), stats_set_cpu()
 *              stats_store_note()     a key-value store was asked; see
 *                                     stats_store.h
 *   acceptor   stats_note_refused()   a connection is turned away
 *   signal     stats_note_sample()    in the signal handler of a profiled
 *                                     thread; see profile.h
 *   main       stats_set_log(), stats_store_set()  before the main thread reads
 *                                     the statistics
 *   anyone     stats_shared_drain()   the server begins to drain
 *
 * Times are in nanoseconds. A byte counts as sent when the kernel has taken the
 * byte. The service time of an answer that is sent by one call is 0:
 *
 *   first byte       request          first byte      last byte     no byte
 *   read             complete         sent            sent          unsent
 *    |----------------|----- wait -----|--- service ---|--- unsent --|
 *    |--------------------- total ---------------------|
 *
 * Thread: see the table above. The main thread makes and destroys struct
 *         stats_shared while no other thread uses it.
 * Owns:   its memory, which is zeroed pages, so a worker that counts nothing
 *         costs only address space. Texts are borrowed.
 */
#ifndef OBSERVE_STATS_H
#define OBSERVE_STATS_H

#include <assert.h>

#include "base/miniature.h"
#include "base/now.h"
#include "observe/histogram.h"
#include "observe/slowest.h"
#include "observe/stats_http2.h"
#include "observe/stats_store.h"
#include "observe/stats_tls.h"
#include "observe/stats_what_if.h"

enum {
    STATS_METHODS_MAX = 16,
    STATS_STATUS_MIN = 100,
    STATS_STATUS_COUNT = 500, /* 100 to 599 */
    STATS_SIZE_COUNT = 5      /* size classes of responses' bodies */
};

/* Why a connection ended. */
enum stats_close {
    STATS_CLOSE_CLIENT,  /* the client went away, or asked for the end */
    STATS_CLOSE_IDLE,    /* no further request came in time */
    STATS_CLOSE_TIMEOUT, /* a head, a body or a full socket took too long */
    STATS_CLOSE_ERROR,   /* a bad request, a reset, no memory */
    STATS_CLOSE_LIMIT,   /* the limit of requests, or another limit */
    STATS_CLOSE_DRAIN,   /* the server is draining */
    STATS_CLOSE_COUNT
};

/* Why a connection was turned away. */
enum stats_refusal {
    STATS_REFUSAL_DESCRIPTORS, /* no descriptor is left */
    STATS_REFUSAL_LIMIT,       /* the maximum of connections is open */
    STATS_REFUSAL_COUNT
};

/* What a thread is doing. */
enum stats_phase {
    STATS_PHASE_ACCEPT,
    STATS_PHASE_READ,
    STATS_PHASE_PARSE,
    STATS_PHASE_LOOKUP,
    STATS_PHASE_SCHEDULE,
    STATS_PHASE_SEND,
    STATS_PHASE_LOG,
    STATS_PHASE_OTHER,
    STATS_PHASE_COUNT
};

/* Return names like "client", "limit", "parse", for labels and keys. */
const char *stats_close_name(enum stats_close reason);
const char *stats_refusal_name(enum stats_refusal reason);
const char *stats_phase_name(enum stats_phase phase);

/* Returns the length of the largest body in a size class; UINT64_MAX for the
 * last class. */
uint64_t stats_size_bound(unsigned size);

static inline unsigned stats_size(uint64_t body_bytes)
{
    return body_bytes <= 1024          ? 0
           : body_bytes <= 10 * 1024   ? 1
           : body_bytes <= 100 * 1024  ? 2
           : body_bytes <= 1024 * 1024 ? 3
                                       : 4;
}

/* --- What is written ------------------------------------------------------ */

/* The times of one size class. */
struct stats_times {
    struct histogram wait;
    struct histogram total;
};

/* The signal handler writes `samples`; the sampled thread writes the rest. */
struct stats_profile {
    struct counter samples[STATS_PHASE_COUNT];
    struct counter cpu_ns;
    struct counter wall_ns;
};

/* Counts the access log's lines. */
struct stats_log {
    struct counter lines;   /* lines handed to the log */
    struct counter dropped; /* lines handed to the log, but lost */
    struct counter errors;  /* failed writes */
};

/* What the compressor threads have done. */
struct stats_compress {
    /* number of variants made; this member and those up to cpu_ns count since
     * the start */
    uint64_t made;
    uint64_t hopeless; /* files whose variant was not smaller */
    uint64_t failed;
    uint64_t refused; /* orders refused, because the queue was full */
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t cpu_ns;
    uint64_t queued; /* orders in the queue now */
    uint64_t memory_bytes;
    uint64_t memory_bytes_max; /* the maximum since the start */
};

/* Numbers of a worker's own cache. `hits` to `saved_bytes` count since the
 * start; `bytes` and `entries` are present values. */
struct stats_cache {
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t coded;       /* answers with a variant that this server made */
    uint64_t saved_bytes; /* bytes that these variants saved */
    uint64_t bytes;
    uint64_t entries;
};

/* Numbers of the proxy cache. Each worker counts `hits` to `bypassed` itself.
 * All numbers count since the start, except `entries`, `bytes` and `files`,
 * which are present values. */
struct stats_kept {
    uint64_t hits;
    uint64_t stale;
    uint64_t revalidated;
    uint64_t misses;
    uint64_t bypassed;
    uint64_t entries;
    uint64_t bytes;
    uint64_t files; /* descriptors of files that are open */
    uint64_t evictions;
    uint64_t written; /* bytes written to disk */
    uint64_t unwritten;
    uint64_t damaged;
};

static inline bool stats_kept_is_used(const struct stats_kept *kept)
{
    /* the struct has only uint64_t members */
    const uint64_t *numbers = (const uint64_t *)kept;

    for (size_t i = 0; i < sizeof(*kept) / sizeof(*numbers); i++)
        if (numbers[i] > 0)
            return true;
    return false;
}

/* Numbers of a worker's link. `held`, `held_bytes` and `measured` count since
 * the start. The other numbers are present values; a report shows the greatest
 * value among the workers. */
struct stats_link {
    uint64_t is_engaged; /* 1 or 0 */
    uint64_t held;
    uint64_t held_bytes;
    uint64_t measured;    /* measurements by a system call */
    uint64_t limit_bytes; /* the present budget */
    uint64_t rate;        /* estimated bytes per second */
    uint64_t delay_us;    /* estimated delay of the local queue */
};

enum {
    STATS_COMPRESS_NUMBERS = sizeof(struct stats_compress) / sizeof(uint64_t),
    STATS_CACHE_IF_NUMBERS = sizeof(struct miniature_told) / sizeof(uint64_t),
    STATS_CACHE_NUMBERS = sizeof(struct stats_cache) / sizeof(uint64_t),
    STATS_KEPT_NUMBERS = sizeof(struct stats_kept) / sizeof(uint64_t),
    STATS_LINK_NUMBERS = sizeof(struct stats_link) / sizeof(uint64_t)
};

/* The statistics of one worker. Members other than `log` and `profile` are
 * private. */
struct stats {
    _Alignas(64) struct counter methods[STATS_METHODS_MAX];
    struct counter bytes_in;
    struct counter bytes_out;
    struct counter incomplete;
    struct counter accepted;
    struct counter closed[STATS_CLOSE_COUNT];
    struct counter queue_depth;
    struct counter queue_depth_max;
    struct counter queue_bytes;
    struct counter overtakes;
    struct counter cache[STATS_CACHE_NUMBERS]; /* as in struct stats_cache */
    struct counter link[STATS_LINK_NUMBERS];   /* as in struct stats_link */
    struct counter kept[STATS_KEPT_NUMBERS];   /* as in struct stats_kept */
    struct stats_log log;
    struct stats_profile profile;
    struct counter statuses[STATS_STATUS_COUNT];
    struct slowest slowest;
    struct stats_times sizes[STATS_SIZE_COUNT];
    struct histogram service;
    struct histogram unsent;
    struct stats_store stores[STATS_STORES_MAX];
    struct stats_tls tls;
    struct stats_http2 http2;
    struct stats_what_if_times what_if;
    struct counter cache_if[STATS_CACHE_IF_NUMBERS]; /* as in miniature_told */
};

struct stats_acceptor {
    _Alignas(64) struct counter refused[STATS_REFUSAL_COUNT];
    struct stats_profile profile;
};

/* --- All of them ---------------------------------------------------------- */

/* Texts are borrowed and must outlive the statistics. */
struct stats_options {
    size_t worker_count;
    const char *const *method_names; /* indexed by method */
    size_t method_count;             /* at most STATS_METHODS_MAX */
    const char *version;
    const char *schedule;                           /* such as "srpt" */
    const char *cache_policy;                       /* such as "sieve" */
    const char *cache_policies[MINIATURE_POLICIES]; /* names of all */
    uint64_t cache_bytes;                           /* size of each cache */
    const char *link_mode;                          /* such as "auto" */
    bool is_profiled;                               /* threads are sampled */
    const struct stats_store_options *stores;
    size_t store_count; /* at most STATS_STORES_MAX */
};

struct stats_shared {
    struct stats_options options;
    uint64_t began_mono_ms;
    int64_t began_wall_ns;
    atomic_bool is_draining;
    struct stats_acceptor acceptor; /* written by the acceptor */
    /* The main thread writes `log`, `stores` and `kept`. */
    _Alignas(64) struct stats_log log;
    struct stats_store stores[STATS_STORES_MAX];
    struct counter kept[STATS_KEPT_NUMBERS];
    /* The compressor threads' numbers, as in struct stats_compress. */
    struct counter compress[STATS_COMPRESS_NUMBERS];
    struct stats workers[]; /* each written by its worker */
};

/* Returns NULL if there is no memory. */
MUST_USE struct stats_shared *stats_shared_create(
    const struct stats_options *options, const struct now *now);
void stats_shared_destroy(struct stats_shared *shared);

/* Notes that the server drains; all later snapshots say so. Any thread may call
 * this function, any number of times. */
static inline void stats_shared_drain(struct stats_shared *shared)
{
    atomic_store_explicit(&shared->is_draining, true, memory_order_relaxed);
}

/* --- Exchanges ------------------------------------------------------------ */

/* The facts of an exchange when it ends. */
struct stats_exchange {
    unsigned method;     /* the method's number, below method_count */
    unsigned status;     /* 0 without an answer */
    uint64_t body_bytes; /* bytes of the response's body that were sent */
    uint64_t bytes_in;   /* bytes of the request that were read */
    uint64_t bytes_out;  /* bytes of the response that were sent, with head */
    uint64_t wait_ns;
    uint64_t service_ns;
    uint64_t total_ns;
    int64_t wall_ns;     /* the present time */
    struct bytes target; /* as sent by the client */
    const struct address *peer;
    /* False if the exchange was given up before its last byte; the times,
     * `target` and `peer` are then ignored. */
    bool is_complete;
    /* Whether the answer is a stream of events, which has no length. Such a
     * stream does not end by itself, so the exchange never counts as
     * incomplete, and its times are ignored. */
    bool is_endless;
};

/* Enters the exchange into the list of the slowest requests. Called only by
 * stats_note_exchange(). */
void stats_note_slow(struct stats *stats,
                     const struct stats_exchange *exchange);

/* Notes the end of an exchange. To be called once for each exchange that has
 * begun. A call takes about 12 ns. */
static inline void stats_note_exchange(struct stats *stats,
                                       const struct stats_exchange *exchange)
{
    unsigned status = exchange->status - STATS_STATUS_MIN;
    struct stats_times *times = &stats->sizes[stats_size(exchange->body_bytes)];

    assert(exchange->method < STATS_METHODS_MAX);
    counter_add(&stats->methods[exchange->method], 1);
    if (status < STATS_STATUS_COUNT)
        counter_add(&stats->statuses[status], 1);
    counter_add(&stats->bytes_in, exchange->bytes_in);
    counter_add(&stats->bytes_out, exchange->bytes_out);
    if (exchange->is_endless)
        return;
    if (!exchange->is_complete) {
        counter_add(&stats->incomplete, 1);
        return;
    }
    histogram_record(&times->wait, exchange->wait_ns);
    histogram_record(&times->total, exchange->total_ns);
    histogram_record(&stats->service, exchange->service_ns);
    if (exchange->total_ns > slowest_threshold_ns(&stats->slowest))
        stats_note_slow(stats, exchange);
}

_Static_assert((int)STATS_WHAT_IF_SIZES == (int)STATS_SIZE_COUNT, "the same");

/* Notes the time of a sampled reply of `bytes` bytes: the time that it took, or
 * the time that it would have taken if replies were sent in another order. */
static inline void stats_note_what_if(struct stats *stats,
                                      enum stats_what_if order, uint64_t bytes,
                                      uint64_t ns)
{
    stats_what_if_note(&stats->what_if, order, stats_size(bytes), ns);
}

/* Notes the unsent time of a response: from the moment when the kernel took the
 * last byte until the kernel had no unsent byte. */
static inline void stats_note_unsent(struct stats *stats, uint64_t ns)
{
    histogram_record(&stats->unsent, ns);
}

/* --- Connections, queue --------------------------------------------------- */

static inline void stats_note_open(struct stats *stats)
{
    counter_add(&stats->accepted, 1);
}

/* Notes the end of a connection. To be called once for each connection that was
 * opened. */
static inline void stats_note_close(struct stats *stats,
                                    enum stats_close reason)
{
    counter_add(&stats->closed[reason], 1);
}

static inline void stats_note_refused(struct stats_acceptor *acceptor,
                                      enum stats_refusal reason)
{
    counter_add(&acceptor->refused[reason], 1);
}

/* Sets the length of the scheduler's queue: `depth` responses wait for their
 * turn, and together have `bytes` bytes left to send. */
static inline void stats_set_queue(struct stats *stats, uint64_t depth,
                                   uint64_t bytes)
{
    counter_set(&stats->queue_depth, depth);
    counter_set(&stats->queue_bytes, bytes);
    counter_raise(&stats->queue_depth_max, depth);
}

static inline void stats_note_overtake(struct stats *stats)
{
    counter_add(&stats->overtakes, 1);
}

/* --- Now and then --------------------------------------------------------- */

void stats_set_cache(struct stats *stats, const struct stats_cache *cache);
void stats_set_cache_if(struct stats *stats, const struct miniature_told *told);

/* Sets the compressor threads' numbers. Only one thread at a time may call this
 * function. */
void stats_set_compress(struct counter compress[STATS_COMPRESS_NUMBERS],
                        const struct stats_compress *numbers);
void stats_set_kept(struct counter kept[STATS_KEPT_NUMBERS],
                    const struct stats_kept *numbers);
void stats_set_link(struct stats *stats, const struct stats_link *link);

/* Sets the processor time used and the time that went by, both since the
 * thread's start. The share of idle time is computed from the two times, even
 * without --profile. */
static inline void stats_set_cpu(struct stats_profile *profile, uint64_t cpu_ns,
                                 uint64_t wall_ns)
{
    counter_set(&profile->cpu_ns, cpu_ns);
    counter_set(&profile->wall_ns, wall_ns);
}

/* Sets the log's numbers, which count since the start. */
static inline void stats_set_log(struct stats_log *log, uint64_t lines,
                                 uint64_t dropped, uint64_t errors)
{
    counter_set(&log->lines, lines);
    counter_set(&log->dropped, dropped);
    counter_set(&log->errors, errors);
}

/* Notes a sample. Called by a signal handler; the signal comes at equal steps
 * of the thread's processor time. */
static inline void stats_note_sample(struct stats_profile *profile,
                                     enum stats_phase phase)
{
    counter_add(&profile->samples[phase], 1);
}

/* Lets the slowest requests of earlier minutes expire. */
static inline void stats_tick(struct stats *stats, uint64_t mono_ms)
{
    slowest_tick(&stats->slowest, mono_ms);
}

#endif
