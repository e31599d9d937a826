/*
 * stats - what each worker counts, and how long things took.
 *
 * A worker writes its own struct stats and no one else's, by loads and stores
 * without locks; any thread reads them at any time (stats_snapshot.h). The
 * acceptor and the main thread have small blocks of their own.
 *
 * Who calls what, when:
 *
 *   worker     stats_note_open()      takes over a connection
 *              stats_note_exchange()  an answer is handed over, or given up
 *              stats_note_unsent()    the kernel has no unsent byte any more
 *              stats_note_overtake()  an answer is sent before one that has
 *                                     waited longer
 *              stats_set_queue()      the scheduler's queue has changed
 *              stats_note_close()     ends a connection
 *              stats_tls_note()       a handshake is done, or has failed; see
 *                                     stats_tls.h
 *              stats_http2_note()     see stats_http2.h
 *              stats_tick()           once a second, and there also
 *              stats_set_cache(), stats_set_link(), stats_set_cpu()
 *   acceptor   stats_note_refused()   turns a connection away
 *   signal     stats_note_sample()    of a profiled thread, on that thread; see
 *                                     profile.h
 *   worker     stats_store_note()     of a key-value store; see stats_store.h
 *   main       stats_set_log(), stats_store_set()  before it reads them
 *   anyone     stats_shared_drain()   the server begins to drain
 *
 * Times are nanoseconds, and what is sent is what the kernel has taken; an
 * answer that goes out at one go has no service time:
 *
 *   first byte       request          first byte      last byte     no byte
 *   read             complete         sent            sent          unsent
 *    |----------------|----- wait -----|--- service ---|--- unsent --|
 *    |--------------------- total ---------------------|
 *
 * Thread: see above; struct stats_shared is made and unmade by the main
 *         thread, while no other uses it.
 * Owns:   its memory, which is zeroed pages: a worker that counts nothing
 *         costs address space only. Texts are borrowed.
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
    STATS_SIZE_COUNT = 5      /* classes of responses' bodies */
};

/* Why a connection ended. */
enum stats_close {
    STATS_CLOSE_CLIENT,  /* the client went away, or asked for the end */
    STATS_CLOSE_IDLE,    /* no further request came in time */
    STATS_CLOSE_TIMEOUT, /* a head, a body or a full socket took too long */
    STATS_CLOSE_ERROR,   /* a bad request, a reset, no memory */
    STATS_CLOSE_LIMIT,   /* requests per connection, or the like */
    STATS_CLOSE_DRAIN,   /* the server is about to stop */
    STATS_CLOSE_COUNT
};

/* Why a connection was turned away. */
enum stats_refusal {
    STATS_REFUSAL_DESCRIPTORS, /* there are none left */
    STATS_REFUSAL_LIMIT,       /* as many as allowed are open */
    STATS_REFUSAL_COUNT
};

/* What a thread is at. */
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

/* "client", "limit", "parse": for labels and keys. */
const char *stats_close_name(enum stats_close reason);
const char *stats_refusal_name(enum stats_refusal reason);
const char *stats_phase_name(enum stats_phase phase);

/* Up to how many bytes a body is of that class; UINT64_MAX: the last. */
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

/* Times by size of body; those of all sizes together are their sum. */
struct stats_times {
    struct histogram wait;
    struct histogram total;
};

/* Samples are the signal handler's to write, the times its thread's. */
struct stats_profile {
    struct counter samples[STATS_PHASE_COUNT];
    struct counter cpu_ns;
    struct counter wall_ns;
};

/* What became of the access log's lines. */
struct stats_log {
    struct counter lines;   /* handed to the log */
    struct counter dropped; /* of these, lost */
    struct counter errors;  /* of writing */
};

/* What compressors beside the workers have done. */
struct stats_compress {
    uint64_t made;     /* variants; since the start, as the next six */
    uint64_t hopeless; /* what did not get smaller */
    uint64_t failed;
    uint64_t refused; /* orders beyond the queue */
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t cpu_ns;
    uint64_t queued; /* now */
    uint64_t memory_bytes;
    uint64_t memory_bytes_max; /* the most there ever were */
};

/* Numbers of the worker's own cache as it is now; the first five since the
 * start. */
struct stats_cache {
    uint64_t hits;
    uint64_t misses;
    uint64_t evictions;
    uint64_t coded;       /* answers with what was compressed here */
    uint64_t saved_bytes; /* by these */
    uint64_t bytes;
    uint64_t entries;
};

/* Numbers of the cache of what is proxied; the first five, of which each worker
 * has its own, and what follows bytes on disk, since the start. */
struct stats_kept {
    uint64_t hits;
    uint64_t stale;
    uint64_t revalidated;
    uint64_t misses;
    uint64_t bypassed;
    uint64_t entries;
    uint64_t bytes;
    uint64_t files; /* descriptors */
    uint64_t evictions;
    uint64_t written; /* to the disk */
    uint64_t unwritten;
    uint64_t damaged;
};

static inline bool stats_kept_is_used(const struct stats_kept *kept)
{
    const uint64_t *numbers = (const uint64_t *)kept; /* nothing else */

    for (size_t i = 0; i < sizeof(*kept) / sizeof(*numbers); i++)
        if (numbers[i] > 0)
            return true;
    return false;
}

/* Numbers of the worker's link; from held to measured since the start. Of the
 * others, which all workers share, the greatest is reported. */
struct stats_link {
    uint64_t is_engaged; /* 1, or 0 */
    uint64_t held;
    uint64_t held_bytes;
    uint64_t measured;    /* system calls */
    uint64_t limit_bytes; /* the budget in force */
    uint64_t rate;        /* estimate, bytes a second */
    uint64_t delay_us;    /* in the local queue, as estimated */
};

enum {
    STATS_COMPRESS_NUMBERS = sizeof(struct stats_compress) / sizeof(uint64_t),
    STATS_CACHE_IF_NUMBERS = sizeof(struct miniature_told) / sizeof(uint64_t),
    STATS_CACHE_NUMBERS = sizeof(struct stats_cache) / sizeof(uint64_t),
    STATS_KEPT_NUMBERS = sizeof(struct stats_kept) / sizeof(uint64_t),
    STATS_LINK_NUMBERS = sizeof(struct stats_link) / sizeof(uint64_t)
};

/* The statistics of one worker. All is private but log and profile. */
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
    struct counter cache[STATS_CACHE_NUMBERS]; /* by struct stats_cache */
    struct counter link[STATS_LINK_NUMBERS];   /* by struct stats_link */
    struct counter kept[STATS_KEPT_NUMBERS];   /* by struct stats_kept */
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
    struct counter cache_if[STATS_CACHE_IF_NUMBERS]; /* by miniature_told */
};

struct stats_acceptor {
    _Alignas(64) struct counter refused[STATS_REFUSAL_COUNT];
    struct stats_profile profile;
};

/* --- All of them ---------------------------------------------------------- */

/* Texts are borrowed and must outlive the statistics. */
struct stats_options {
    size_t worker_count;
    const char *const *method_names; /* by their numbers */
    size_t method_count;             /* STATS_METHODS_MAX at most */
    const char *version;
    const char *schedule;                           /* "srpt" */
    const char *cache_policy;                       /* "sieve" */
    const char *cache_policies[MINIATURE_POLICIES]; /* all there are */
    uint64_t cache_bytes;                           /* of each worker's */
    const char *link_mode;                          /* "auto" */
    bool is_profiled;                               /* samples are taken */
    const struct stats_store_options *stores;
    size_t store_count; /* STATS_STORES_MAX at most */
};

struct stats_shared {
    struct stats_options options;
    uint64_t began_mono_ms;
    int64_t began_wall_ns;
    atomic_bool is_draining;
    struct stats_acceptor acceptor;    /* the acceptor's */
    _Alignas(64) struct stats_log log; /* the main thread's, as are: */
    struct stats_store stores[STATS_STORES_MAX];
    struct counter kept[STATS_KEPT_NUMBERS];
    /* The compressor's, by struct stats_compress. */
    struct counter compress[STATS_COMPRESS_NUMBERS];
    struct stats workers[]; /* each its worker's, by number */
};

/* NULL: no memory. */
MUST_USE struct stats_shared *stats_shared_create(
    const struct stats_options *options, const struct now *now);
void stats_shared_destroy(struct stats_shared *shared);

/* Says so in what is read from now on. Any thread, any number of times. */
static inline void stats_shared_drain(struct stats_shared *shared)
{
    atomic_store_explicit(&shared->is_draining, true, memory_order_relaxed);
}

/* --- Exchanges ------------------------------------------------------------ */

/* What is known of an exchange when it ends. */
struct stats_exchange {
    unsigned method;     /* its number; below method_count */
    unsigned status;     /* 0: nothing was answered */
    uint64_t body_bytes; /* of the response, sent */
    uint64_t bytes_in;   /* of the request, as read */
    uint64_t bytes_out;  /* of the response, head included, sent */
    uint64_t wait_ns;
    uint64_t service_ns;
    uint64_t total_ns;
    int64_t wall_ns;     /* now */
    struct bytes target; /* as the client sent it */
    const struct address *peer;
    /* False: given up before its last byte; times, target and peer mean
     * nothing then and are not looked at. */
    bool is_complete;
    /* A stream without a length that waited for events: its end comes from
     * outside, so it is neither incomplete nor are times of it looked at. */
    bool is_endless;
};

/* Keeps the exchange among the slowest; for stats_note_exchange(). */
void stats_note_slow(struct stats *stats,
                     const struct stats_exchange *exchange);

/* Once for every exchange that has begun, when it ends. About 12 ns; one that
 * is among the slowest, 60 ns more. */
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

/* Notes a reply of so many bytes in a sample, under an order. */
static inline void stats_note_what_if(struct stats *stats,
                                      enum stats_what_if order, uint64_t bytes,
                                      uint64_t ns)
{
    stats_what_if_note(&stats->what_if, order, stats_size(bytes), ns);
}

/* Notes the time from the last byte handed over until the kernel had sent them
 * all. */
static inline void stats_note_unsent(struct stats *stats, uint64_t ns)
{
    histogram_record(&stats->unsent, ns);
}

/* --- Connections, queue --------------------------------------------------- */

static inline void stats_note_open(struct stats *stats)
{
    counter_add(&stats->accepted, 1);
}

/* Notes the end of a connection, once for each that was opened. */
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

/* depth: responses that wait for their turn; bytes: that these have left. */
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

/* Sets what the compressors have counted; one thread at a time. */
void stats_set_compress(struct counter compress[STATS_COMPRESS_NUMBERS],
                        const struct stats_compress *numbers);
void stats_set_kept(struct counter kept[STATS_KEPT_NUMBERS],
                    const struct stats_kept *numbers);
void stats_set_link(struct stats *stats, const struct stats_link *link);

/* How much processor time the thread has used of how much that went by, both
 * since its start. Of use without --profile too: idle comes of it. */
static inline void stats_set_cpu(struct stats_profile *profile, uint64_t cpu_ns,
                                 uint64_t wall_ns)
{
    counter_set(&profile->cpu_ns, cpu_ns);
    counter_set(&profile->wall_ns, wall_ns);
}

/* Sets the numbers of the log, all since the start. */
static inline void stats_set_log(struct stats_log *log, uint64_t lines,
                                 uint64_t dropped, uint64_t errors)
{
    counter_set(&log->lines, lines);
    counter_set(&log->dropped, dropped);
    counter_set(&log->errors, errors);
}

/* Notes a sample, in the handler of a signal that comes at equal steps of
 * processor time. */
static inline void stats_note_sample(struct stats_profile *profile,
                                     enum stats_phase phase)
{
    counter_add(&profile->samples[phase], 1);
}

/* Lets the slowest requests grow old. */
static inline void stats_tick(struct stats *stats, uint64_t mono_ms)
{
    slowest_tick(&stats->slowest, mono_ms);
}

#endif
