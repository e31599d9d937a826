/*
 * sample_stats - statistics to test with.
 *
 * Thread: the test's.
 */
#ifndef UNIT_SAMPLE_STATS_H
#define UNIT_SAMPLE_STATS_H

#include "observe/stats.h"
#include "observe/stats_upstreams.h"

enum { SAMPLE_METHODS = 3, SAMPLE_US = 1000, SAMPLE_MS = 1000000 };

static const char *const sample_methods[SAMPLE_METHODS] = {"GET", "HEAD",
                                                           "OTHER"};

static const struct now sample_began = {
    .mono_ms = 5000, .wall_s = 1763750000, .wall_ns = 1763750000123000000};

/* 1.2 seconds later. */
static const struct now sample_now = {
    .mono_ms = 6200, .wall_s = 1763750001, .wall_ns = 1763750001323000000};

static const struct address sample_peer = {
    .family = ADDRESS_IPV4, .port = 4000, .octets = {192, 0, 2, 1}};

/* One that tells all of itself, and one that tells nothing. */
static const struct stats_store_options sample_stores[] = {
    {.prefix = "/kv", .engine = "lmdb", .figures = UINT32_MAX},
    {.prefix = "/far", .engine = "redis"}};

static inline struct stats_options sample_options(size_t worker_count)
{
    return (struct stats_options){.worker_count = worker_count,
                                  .method_names = sample_methods,
                                  .method_count = SAMPLE_METHODS,
                                  .version = "1.2.3",
                                  .schedule = "srpt",
                                  .cache_policy = "sieve",
                                  .link_mode = "auto",
                                  .stores = sample_stores,
                                  .store_count = 2};
}

/* A GET of "/x" that was answered with 200 and one KiB in that time, half of
 * which it waited. */
static inline struct stats_exchange sample_exchange(uint64_t total_ns)
{
    return (struct stats_exchange){.status = 200,
                                   .body_bytes = 1024,
                                   .bytes_in = 100,
                                   .bytes_out = 1200,
                                   .wait_ns = total_ns / 2,
                                   .service_ns = total_ns / 4,
                                   .total_ns = total_ns,
                                   .wall_ns = sample_now.wall_ns,
                                   .target = BYTES("/x"),
                                   .peer = &sample_peer,
                                   .is_complete = true};
}

static inline void sample_note(struct stats *stats, uint64_t total_ns)
{
    struct stats_exchange exchange = sample_exchange(total_ns);

    stats_note_exchange(stats, &exchange);
}

/* Upstreams: the first is up, the second is as bad as can be and has as much to
 * tell. context is a name of theirs. */
static inline void sample_read_upstream(const void *context, size_t number,
                                        uint64_t mono_ms,
                                        struct stats_upstream *row_out)
{
    uint64_t most = UINT64_MAX;

    assert(mono_ms == sample_now.mono_ms);
    *row_out = (struct stats_upstream){.proxy = "/",
                                       .server = "192.0.2.2:9000",
                                       .up = 1,
                                       .active = 1,
                                       .idle = 2,
                                       .requests = 30,
                                       .failures = 4,
                                       .retries = 5,
                                       .connects = 6,
                                       .reuses = 24,
                                       .bytes_in = 800,
                                       .bytes_out = 90};
    if (number > 0)
        *row_out = (struct stats_upstream){.proxy = "/app",
                                           .server = context,
                                           .state = STATS_UPSTREAM_EJECTED,
                                           .active = most,
                                           .idle = most,
                                           .requests = most,
                                           .failures = most,
                                           .retries = most,
                                           .connects = most,
                                           .reuses = most,
                                           .bytes_in = most,
                                           .bytes_out = most};
}

static const struct stats_upstreams sample_upstreams = {
    .count = 2, .read = sample_read_upstream, .context = "unix:/run/a\"b"};

#endif
