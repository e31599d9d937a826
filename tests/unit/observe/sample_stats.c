#include "unit/observe/sample_stats.h"

static const char *const sample_methods[SAMPLE_METHODS] = {"GET", "HEAD",
                                                           "OTHER"};
const struct now sample_began = {
    .mono_ms = 5000, .wall_s = 1763750000, .wall_ns = 1763750000123000000};
const struct now sample_now = {
    .mono_ms = 6200, .wall_s = 1763750001, .wall_ns = 1763750001323000000};
const struct address sample_peer = {
    .family = ADDRESS_IPV4, .port = 4000, .octets = {192, 0, 2, 1}};
const struct stats_store_options sample_stores[] = {
    {.prefix = "/kv", .engine = "lmdb", .numbers = UINT32_MAX},
    {.prefix = "/far", .engine = "redis"}};

struct stats_options sample_options(size_t worker_count)
{
    return (struct stats_options){.worker_count = worker_count,
                                  .method_names = sample_methods,
                                  .method_count = SAMPLE_METHODS,
                                  .version = "1.2.3",
                                  .schedule = "srpt",
                                  .cache_policy = "sieve",
                                  .cache_policies = {"lru", "gdsf", "sieve"},
                                  .cache_bytes = 4096,
                                  .link_mode = "auto",
                                  .stores = sample_stores,
                                  .store_count = 2};
}

struct stats_exchange sample_exchange(uint64_t total_ns)
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

void sample_note(struct stats *stats, uint64_t total_ns)
{
    struct stats_exchange exchange = sample_exchange(total_ns);

    stats_note_exchange(stats, &exchange);
}

void sample_cache_and_link(struct stats *stats)
{
    stats_set_cache(stats, &(struct stats_cache){.hits = 30,
                                                 .misses = 10,
                                                 .evictions = 1,
                                                 .bytes = 4000,
                                                 .entries = 4});
    stats_set_link(stats,
                   &(struct stats_link){true, 5, 500, 50, 4096, 125000, 70});
}

void sample_read_upstream(const void *context, size_t number, uint64_t mono_ms,
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
                                       .bytes_out = 90,
                                       .handshakes = 7,
                                       .resumed = 3,
                                       .handshakes_failed = 2};
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
                                           .bytes_out = most,
                                           .handshakes = most,
                                           .resumed = most,
                                           .handshakes_failed = most};
}

const struct stats_upstreams sample_upstreams = {
    .count = 2, .read = sample_read_upstream, .context = "unix:/run/a\"b"};
