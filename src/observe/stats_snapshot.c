#include "observe/stats_snapshot.h"

#include <math.h>

#include "base/pages.h"
#include "base/units.h"

static size_t snapshot_bytes(size_t worker_count)
{
    return sizeof(struct stats_snapshot) +
           worker_count * sizeof(struct stats_worker);
}

struct stats_snapshot *stats_snapshot_create(const struct stats_shared *shared)
{
    size_t worker_count = shared->options.worker_count;
    struct stats_snapshot *snapshot = pages_open(snapshot_bytes(worker_count));

    if (snapshot)
        snapshot->options.worker_count = worker_count;
    return snapshot;
}

void stats_snapshot_destroy(struct stats_snapshot *snapshot)
{
    if (snapshot)
        pages_close(snapshot, snapshot_bytes(snapshot->options.worker_count));
}

void stats_snapshot_clear(struct stats_snapshot *snapshot)
{
    size_t worker_count = snapshot->options.worker_count;

    pages_clear(snapshot, snapshot_bytes(worker_count));
    snapshot->options.worker_count = worker_count;
}

static void add(uint64_t *sum, const struct counter *counter)
{
    *sum += counter_read(counter);
}

static void raise_to(uint64_t *greatest, const struct counter *counter)
{
    uint64_t value = counter_read(counter);

    if (*greatest < value)
        *greatest = value;
}

/* Adds one worker's counts, and returns how many of the worker's connections
 * are open. The counts of closed connections are read first, so that they never
 * exceed the count of accepted connections. */
static uint64_t add_connections(struct stats_snapshot *snapshot,
                                const struct stats *stats)
{
    uint64_t closed = 0;
    uint64_t accepted;

    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++) {
        uint64_t more = counter_read(&stats->closed[i]);

        snapshot->closed[i] += more;
        closed += more;
    }
    accepted = counter_read(&stats->accepted);
    snapshot->accepted += accepted;
    return accepted > closed ? accepted - closed : 0;
}

static uint64_t add_exchanges(struct stats_snapshot *snapshot,
                              const struct stats *stats)
{
    uint64_t requests = 0;

    for (unsigned i = 0; i < STATS_METHODS_MAX; i++) {
        uint64_t more = counter_read(&stats->methods[i]);

        snapshot->methods[i] += more;
        requests += more;
    }
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++)
        add(&snapshot->statuses[i], &stats->statuses[i]);
    add(&snapshot->incomplete, &stats->incomplete);
    add(&snapshot->bytes_in, &stats->bytes_in);
    add(&snapshot->bytes_out, &stats->bytes_out);
    histogram_add_to(&stats->service, &snapshot->service);
    histogram_add_to(&stats->unsent, &snapshot->unsent);
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++) {
        histogram_add_to(&stats->sizes[i].wait, &snapshot->sizes[i].wait);
        histogram_add_to(&stats->sizes[i].total, &snapshot->sizes[i].total);
    }
    return requests;
}

static void add_kept(struct stats_snapshot *snapshot,
                     const struct counter *kept)
{
    /* struct stats_kept has only uint64_t members. */
    uint64_t *numbers = (uint64_t *)&snapshot->kept;

    for (unsigned i = 0; i < STATS_KEPT_NUMBERS; i++)
        add(&numbers[i], &kept[i]);
}

static void add_parts(struct stats_snapshot *snapshot,
                      const struct stats *stats)
{
    /* Both structs have only uint64_t members. */
    uint64_t *cache = (uint64_t *)&snapshot->cache;
    uint64_t *link = (uint64_t *)&snapshot->link;

    for (unsigned i = 0; i < STATS_CACHE_NUMBERS; i++)
        add(&cache[i], &stats->cache[i]);
    for (unsigned i = 0; i < STATS_LINK_NUMBERS; i++) {
        if (&link[i] >= &snapshot->link.held &&
            &link[i] <= &snapshot->link.measured)
            add(&link[i], &stats->link[i]);
        else
            raise_to(&link[i], &stats->link[i]);
    }
    add_kept(snapshot, stats->kept);
    add(&snapshot->overtakes, &stats->overtakes);
    add(&snapshot->workers_cpu_ns, &stats->profile.cpu_ns);
    add(&snapshot->workers_wall_ns, &stats->profile.wall_ns);
}

static void add_cache_if(struct stats_snapshot *snapshot,
                         const struct counter *told)
{
    /* struct miniature_told has only uint64_t members. */
    uint64_t *numbers = (uint64_t *)&snapshot->cache_told;

    for (unsigned i = 0; i < STATS_CACHE_IF_NUMBERS; i++)
        add(&numbers[i], &told[i]);
}

/* Returns the hit ratio. `missed` is an estimate. If the estimate exceeds
 * `asked`, the ratio is 0. */
static double ratio_of(uint64_t missed, uint64_t asked)
{
    return missed < asked ? 1 - (double)missed / (double)asked : 0;
}

static void derive_cache_if(struct stats_snapshot *snapshot)
{
    static const char *const names[MINIATURE_SIZES] = {"1/4", "1/2", "1",
                                                       "2",   "4",   "16"};
    const struct stats_options *options = &snapshot->options;
    const struct miniature_told *told = &snapshot->cache_told;

    for (unsigned i = 0; i < MINIATURE_MODELS && told->requests > 0; i++) {
        unsigned size = i % MINIATURE_SIZES;

        snapshot->cache_if[i] = (struct stats_cache_if){
            .policy = options->cache_policies[i / MINIATURE_SIZES],
            .size = names[size],
            .bytes = options->cache_bytes / 4 * miniature_quarters[size],
            .hit_ratio = ratio_of(told->misses[i], told->requests),
            .byte_hit_ratio = ratio_of(told->missed_bytes[i], told->bytes)};
    }
}

static void add_what_if(struct stats_snapshot *snapshot,
                        const struct stats_what_if_times *times)
{
    for (unsigned i = 0; i < STATS_WHAT_IF_COUNT; i++) {
        histogram_add_to(&times->all[i], &snapshot->what_if[i]);
        for (unsigned size = 0; size < STATS_SIZE_COUNT; size++)
            add(&snapshot->sizes[size].what_if_ns[i], &times->sums[size][i]);
    }
    for (unsigned size = 0; size < STATS_SIZE_COUNT; size++)
        add(&snapshot->sizes[size].what_if_count, &times->counts[size]);
}

/* Computes the mean times of replies in the what-if orders from the sums and
 * the counts. */
static void share_what_if(struct stats_snapshot *snapshot)
{
    for (unsigned i = 0; i < STATS_WHAT_IF_COUNT; i++) {
        snapshot->what_if_us[i] =
            (uint64_t)distribution_mean(&snapshot->what_if[i]) / NS_PER_US;
        for (unsigned size = 0; size < STATS_SIZE_COUNT; size++) {
            struct stats_by_size *by_size = &snapshot->sizes[size];

            if (by_size->what_if_count > 0)
                by_size->what_if_ns[i] /= by_size->what_if_count;
        }
    }
}

static void add_stores(struct stats_snapshot *snapshot,
                       const struct stats_store *stores)
{
    for (size_t i = 0; i < snapshot->options.store_count; i++)
        for (unsigned k = 0; k < STATS_STORE_NUMBERS; k++)
            add(&snapshot->stores[i][k], &stores[i].numbers[k]);
}

static void add_compress(struct stats_snapshot *snapshot,
                         const struct counter *compress)
{
    /* struct stats_compress has only uint64_t members. */
    uint64_t *numbers = (uint64_t *)&snapshot->compress;

    for (unsigned i = 0; i < STATS_COMPRESS_NUMBERS; i++)
        add(&numbers[i], &compress[i]);
}

static void add_log(struct stats_snapshot *snapshot,
                    const struct stats_log *log)
{
    add(&snapshot->log_lines, &log->lines);
    add(&snapshot->log_dropped, &log->dropped);
    add(&snapshot->log_errors, &log->errors);
}

static void add_samples(struct stats_snapshot *snapshot,
                        const struct stats_profile *profile)
{
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        add(&snapshot->samples[i], &profile->samples[i]);
}

/* Merges a worker's slowest requests into the snapshot's sorted list, which
 * keeps the SLOWEST_COUNT slowest. */
static void add_slowest(struct stats_snapshot *snapshot,
                        const struct slowest *slowest)
{
    struct slow_request found[2 * SLOWEST_COUNT];
    unsigned count = slowest_read(slowest, found);

    for (unsigned i = 0; i < count; i++) {
        unsigned at = snapshot->slowest_count;

        if (at < SLOWEST_COUNT)
            snapshot->slowest_count++;
        else if (snapshot->slowest[--at].total_ns >= found[i].total_ns)
            continue;
        for (; at > 0 && snapshot->slowest[at - 1].total_ns < found[i].total_ns;
             at--)
            snapshot->slowest[at] = snapshot->slowest[at - 1];
        snapshot->slowest[at] = found[i];
    }
}

static void add_worker(struct stats_snapshot *snapshot,
                       const struct stats *stats, struct stats_worker *worker)
{
    *worker = (struct stats_worker){
        .requests = add_exchanges(snapshot, stats),
        .open = add_connections(snapshot, stats),
        .queue_depth = counter_read(&stats->queue_depth),
        .queue_depth_max = counter_read(&stats->queue_depth_max),
        .queue_bytes = counter_read(&stats->queue_bytes)};
    snapshot->requests += worker->requests;
    snapshot->open += worker->open;
    snapshot->queue_depth += worker->queue_depth;
    snapshot->queue_depth_max += worker->queue_depth_max;
    snapshot->queue_bytes += worker->queue_bytes;
    add_parts(snapshot, stats);
    add_stores(snapshot, stats->stores);
    stats_tls_add(&snapshot->tls, &stats->tls);
    stats_http2_add(&snapshot->http2, &stats->http2);
    add_what_if(snapshot, &stats->what_if);
    add_cache_if(snapshot, stats->cache_if);
    add_log(snapshot, &stats->log);
    add_samples(snapshot, &stats->profile);
    add_slowest(snapshot, &stats->slowest);
}

/* Splits the workers' time into phases. The acceptor's samples count, too, but
 * its time does not: the acceptor mostly waits, and its idle time is no spare
 * capacity. */
static void share_time(struct stats_snapshot *snapshot)
{
    struct stats_shares *shares = &snapshot->shares;
    uint64_t samples = 0;

    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        samples += snapshot->samples[i];
    /* Without samples, all time counts as idle, so that the shares add up to 1
     * from the start. */
    if (snapshot->options.is_profiled &&
        (snapshot->workers_wall_ns == 0 || samples == 0))
        shares->idle = 1;
    else if (snapshot->workers_cpu_ns < snapshot->workers_wall_ns)
        shares->idle = 1 - (double)snapshot->workers_cpu_ns /
                               (double)snapshot->workers_wall_ns;
    for (unsigned i = 0; i < STATS_PHASE_COUNT && samples > 0; i++)
        shares->phases[i] = (1 - shares->idle) * (double)snapshot->samples[i] /
                            (double)samples;
}

/* Computes the numbers that depend on sums over all workers. */
static void derive(struct stats_snapshot *snapshot)
{
    const struct stats_cache *cache = &snapshot->cache;
    double asked = (double)(cache->hits + cache->misses);
    double seconds = (double)snapshot->uptime_ms / MS_PER_S;

    snapshot->hit_ratio = asked > 0 ? (double)cache->hits / asked : NAN;
    snapshot->requests_a_second = seconds > 0
                                      ? (double)snapshot->requests / seconds
                                      : NAN;
    for (unsigned i = 0; i < STATS_REFUSAL_COUNT; i++)
        snapshot->refused_in_all += snapshot->refused[i];
    share_time(snapshot);
    share_what_if(snapshot);
    derive_cache_if(snapshot);
}

static void add_pulse(struct stats_pulse *pulse, const struct stats *stats)
{
    enum {
        HITS = offsetof(struct stats_cache, hits) / sizeof(uint64_t),
        MISSES = offsetof(struct stats_cache, misses) / sizeof(uint64_t)
    };

    for (unsigned i = 0; i < STATS_METHODS_MAX; i++)
        add(&pulse->requests, &stats->methods[i]);
    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++)
        add(&pulse->closed, &stats->closed[i]);
    add(&pulse->bytes_out, &stats->bytes_out);
    add(&pulse->accepted, &stats->accepted);
    add(&pulse->queue_depth, &stats->queue_depth);
    add(&pulse->hits, &stats->cache[HITS]);
    add(&pulse->misses, &stats->cache[MISSES]);
}

void stats_read_pulse(const struct stats_shared *shared,
                      struct stats_pulse *pulse_out)
{
    *pulse_out = (struct stats_pulse){0};
    for (size_t i = 0; i < shared->options.worker_count; i++)
        add_pulse(pulse_out, &shared->workers[i]);
}

void stats_read(const struct stats_shared *shared, const struct now *now,
                struct stats_snapshot *snapshot)
{
    stats_snapshot_clear(snapshot);
    snapshot->options = shared->options;
    snapshot->wall_ns = now->wall_ns;
    snapshot->mono_ms = now->mono_ms;
    snapshot->began_wall_ns = shared->began_wall_ns;
    snapshot->uptime_ms = now->mono_ms - shared->began_mono_ms;
    snapshot->is_draining = atomic_load_explicit(&shared->is_draining,
                                                 memory_order_relaxed);
    for (size_t i = 0; i < shared->options.worker_count; i++)
        add_worker(snapshot, &shared->workers[i], &snapshot->workers[i]);
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++) {
        distribution_add(&snapshot->wait, &snapshot->sizes[i].wait);
        distribution_add(&snapshot->total, &snapshot->sizes[i].total);
    }
    for (unsigned i = 0; i < STATS_REFUSAL_COUNT; i++)
        add(&snapshot->refused[i], &shared->acceptor.refused[i]);
    add_stores(snapshot, shared->stores);
    add_kept(snapshot, shared->kept);
    add_compress(snapshot, shared->compress);
    add_log(snapshot, &shared->log);
    add_samples(snapshot, &shared->acceptor.profile);
    derive(snapshot);
}
