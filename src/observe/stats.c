#include "observe/stats.h"

#include "base/pages.h"

const char *stats_close_name(enum stats_close reason)
{
    static const char *const names[STATS_CLOSE_COUNT] = {
        [STATS_CLOSE_CLIENT] = "client",   [STATS_CLOSE_IDLE] = "idle",
        [STATS_CLOSE_TIMEOUT] = "timeout", [STATS_CLOSE_ERROR] = "error",
        [STATS_CLOSE_LIMIT] = "limit",     [STATS_CLOSE_DRAIN] = "drain"};

    return names[reason];
}

const char *stats_refusal_name(enum stats_refusal reason)
{
    static const char *const names[STATS_REFUSAL_COUNT] = {
        [STATS_REFUSAL_DESCRIPTORS] = "descriptors",
        [STATS_REFUSAL_LIMIT] = "limit"};

    return names[reason];
}

const char *stats_phase_name(enum stats_phase phase)
{
    static const char *const names[STATS_PHASE_COUNT] = {
        [STATS_PHASE_ACCEPT] = "accept",     [STATS_PHASE_READ] = "read",
        [STATS_PHASE_PARSE] = "parse",       [STATS_PHASE_LOOKUP] = "lookup",
        [STATS_PHASE_SCHEDULE] = "schedule", [STATS_PHASE_SEND] = "send",
        [STATS_PHASE_LOG] = "log",           [STATS_PHASE_OTHER] = "other"};

    return names[phase];
}

uint64_t stats_size_bound(unsigned size)
{
    static const uint64_t bounds[STATS_SIZE_COUNT] = {
        1024, 10 * 1024, 100 * 1024, 1024 * 1024, UINT64_MAX};

    return bounds[size];
}

static size_t shared_bytes(size_t worker_count)
{
    return sizeof(struct stats_shared) + worker_count * sizeof(struct stats);
}

/* The statistics lie in fresh pages, which are zero without being touched, and
 * are aligned to cache lines. */
struct stats_shared *stats_shared_create(const struct stats_options *options,
                                         const struct now *now)
{
    struct stats_shared *shared =
        pages_open(shared_bytes(options->worker_count));

    assert(options->method_count <= STATS_METHODS_MAX &&
           options->store_count <= STATS_STORES_MAX);
    if (!shared)
        return NULL;
    shared->options = *options;
    shared->began_mono_ms = now->mono_ms;
    shared->began_wall_ns = now->wall_ns;
    return shared;
}

void stats_shared_destroy(struct stats_shared *shared)
{
    if (shared)
        pages_close(shared, shared_bytes(shared->options.worker_count));
}

/* Returns the target without its query, since a query may have secrets that
 * must not appear in statistics. */
static struct bytes without_query(struct bytes target)
{
    const char *mark = target.len > 0 ? memchr(target.data, '?', target.len)
                                      : NULL;

    return mark ? bytes_between(target.data, mark) : target;
}

void stats_note_slow(struct stats *stats, const struct stats_exchange *exchange)
{
    struct bytes target = without_query(exchange->target);
    struct slow_request request = {.wall_ns = exchange->wall_ns,
                                   .total_ns = exchange->total_ns,
                                   .wait_ns = exchange->wait_ns,
                                   .body_bytes = exchange->body_bytes,
                                   .peer = *exchange->peer,
                                   .status = (uint16_t)exchange->status,
                                   .method = (uint8_t)exchange->method,
                                   .target_len = target.len < SLOWEST_TARGET_MAX
                                                     ? (uint8_t)target.len
                                                     : SLOWEST_TARGET_MAX};

    memcpy(request.target, target.data, request.target_len);
    slowest_put(&stats->slowest, &request);
}

/* Sets counters from a struct that has only numbers. */
static void set_all(struct counter *counters, const void *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        counter_set(&counters[i], ((const uint64_t *)numbers)[i]);
}

void stats_set_kept(struct counter kept[STATS_KEPT_NUMBERS],
                    const struct stats_kept *numbers)
{
    set_all(kept, numbers, STATS_KEPT_NUMBERS);
}

void stats_set_compress(struct counter compress[STATS_COMPRESS_NUMBERS],
                        const struct stats_compress *numbers)
{
    set_all(compress, numbers, STATS_COMPRESS_NUMBERS);
}

void stats_set_cache(struct stats *stats, const struct stats_cache *cache)
{
    set_all(stats->cache, cache, STATS_CACHE_NUMBERS);
}

void stats_set_cache_if(struct stats *stats, const struct miniature_told *told)
{
    set_all(stats->cache_if, told, STATS_CACHE_IF_NUMBERS);
}

void stats_set_link(struct stats *stats, const struct stats_link *link)
{
    set_all(stats->link, link, STATS_LINK_NUMBERS);
}
