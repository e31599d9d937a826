/*
 * stats_snapshot - all statistics at about one moment, as plain numbers. All
 * reports are written from a snapshot.
 *
 * Taking a snapshot costs the reading thread about 10 us for each worker. It
 * costs the workers only misses of the cache lines that are read.
 *
 * Thread: any thread may call stats_read(), even several at once; a snapshot
 *         belongs to one thread.
 * Owns:   its memory: 0.3 MB are reserved, but only pages with numbers other
 *         than 0 are used. Texts are borrowed from the options of the
 *         statistics.
 */
#ifndef OBSERVE_STATS_SNAPSHOT_H
#define OBSERVE_STATS_SNAPSHOT_H

#include "observe/stats.h"
#include "observe/stats_certificates.h"
#include "observe/stats_upstreams.h"

/* The numbers of one worker alone. */
struct stats_worker {
    uint64_t requests;
    uint64_t open;
    uint64_t queue_depth;
    uint64_t queue_depth_max;
    uint64_t queue_bytes;
};

/* Shares of the workers' time: idle, and each phase. All shares add up to 1;
 * without samples only `idle` is set. The share of a phase in the processor
 * time is phases[i] / (1 - idle). */
struct stats_shares {
    double idle;
    double phases[STATS_PHASE_COUNT];
};

struct stats_by_size {
    struct distribution wait;
    struct distribution total;
    uint64_t what_if_count;
    uint64_t what_if_ns[STATS_WHAT_IF_COUNT]; /* mean times */
};

/* Hit ratios that the workers' caches would have with another size and another
 * policy. */
struct stats_cache_if {
    const char *policy;
    const char *size; /* relative to the real size, like "1/4" */
    uint64_t bytes;   /* bytes of each worker's cache */
    double hit_ratio;
    double byte_hit_ratio;
};

struct stats_snapshot {
    struct stats_options options;
    int64_t wall_ns; /* when the snapshot was taken, in ns since the epoch */
    uint64_t mono_ms;
    int64_t began_wall_ns;
    uint64_t uptime_ms;
    bool is_draining;

    uint64_t requests;
    double requests_a_second; /* NAN if no time has passed */
    uint64_t methods[STATS_METHODS_MAX];
    uint64_t statuses[STATS_STATUS_COUNT]; /* index 0 is STATS_STATUS_MIN */
    uint64_t incomplete;                   /* incomplete requests */
    uint64_t bytes_in;
    uint64_t bytes_out;

    uint64_t accepted; /* connections taken by workers */
    uint64_t open;
    uint64_t closed[STATS_CLOSE_COUNT];
    uint64_t refused[STATS_REFUSAL_COUNT];
    uint64_t refused_in_all;
    struct stats_tls_sums tls;
    struct stats_http2_sums http2;

    struct stats_cache cache;
    struct stats_compress compress;
    struct stats_kept kept;
    double hit_ratio; /* share of cache hits; NAN without lookups */
    struct miniature_told cache_told;
    /* The hit ratios are meaningless if cache_told has no requests. */
    struct stats_cache_if cache_if[MINIATURE_MODELS];
    struct stats_link link;
    uint64_t queue_depth;
    /* sum of the workers' maxima, which may be of different moments */
    uint64_t queue_depth_max;
    uint64_t queue_bytes;
    uint64_t overtakes;
    uint64_t log_lines;
    uint64_t log_dropped;
    uint64_t log_errors;

    uint64_t workers_cpu_ns;
    uint64_t workers_wall_ns;
    uint64_t samples[STATS_PHASE_COUNT];
    struct stats_shares shares;

    struct distribution wait;
    struct distribution service;
    struct distribution total;
    struct distribution unsent;
    struct stats_by_size sizes[STATS_SIZE_COUNT];
    struct distribution what_if[STATS_WHAT_IF_COUNT];
    uint64_t what_if_us[STATS_WHAT_IF_COUNT]; /* mean times */

    uint64_t stores[STATS_STORES_MAX][STATS_STORE_NUMBERS];

    unsigned slowest_count;
    struct slow_request slowest[SLOWEST_COUNT]; /* slowest first */

    /* The upstream servers, or NULL if there are none. They are borrowed, and
     * are read while a report is written. The snapshot's owner sets this member
     * after each stats_read(). */
    const struct stats_upstreams *upstreams;
    /* Borrowed and set like `upstreams`; NULL without certificates. */
    const struct stats_certificates *certificates;

    struct stats_worker workers[]; /* options.worker_count elements */
};

/* Makes an empty snapshot with room for the workers of *shared. Returns NULL if
 * there is no memory. */
MUST_USE struct stats_snapshot *stats_snapshot_create(const struct stats_shared
                                                          *shared);
void stats_snapshot_destroy(struct stats_snapshot *snapshot);

/* Empties the snapshot, which then uses only one page of memory. */
void stats_snapshot_clear(struct stats_snapshot *snapshot);

/* Fills a snapshot with the present numbers. The snapshot must have been made
 * for the same *shared. */
void stats_read(const struct stats_shared *shared, const struct now *now,
                struct stats_snapshot *snapshot);

/* A few numbers of one moment. At least one of them changes whenever anything
 * happens, so nothing has happened between two equal pulses. */
struct stats_pulse {
    uint64_t requests;
    uint64_t bytes_out;
    uint64_t accepted;
    uint64_t closed;
    uint64_t queue_depth;
    uint64_t hits;
    uint64_t misses;
};

/* Reads a pulse. A call costs a hundredth of stats_read(). */
void stats_read_pulse(const struct stats_shared *shared,
                      struct stats_pulse *pulse_out);

#endif
