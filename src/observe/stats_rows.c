#include "observe/stats_rows.h"

#include "base/units.h"
#include "observe/history.h"

_Static_assert(STATS_STORE_NUMBERS <= 32, "numbers has a bit for each");

/* --- The table ----------------------------------------------------------- */

#define ROW_AT(part_, kind_, unit_, offset_, bytes_, ...)                   \
    {                                                                       \
        .part = STATS_PART_##part_, .kind = STATS_KIND_##kind_,             \
        .unit = STATS_UNIT_##unit_, .offset = (offset_), .bytes = (bytes_), \
        .name = __VA_ARGS__                                                 \
    }
#define ROW_OF(type, part, kind, unit, field, ...)  \
    ROW_AT(part, kind, unit, offsetof(type, field), \
           sizeof(((type *)0)->field), __VA_ARGS__)
#define ROW(part, kind, unit, field, ...) \
    ROW_OF(struct stats_snapshot, part, kind, unit, field, __VA_ARGS__)
#define SIZE(...) ROW_OF(struct stats_by_size, SIZE, __VA_ARGS__)
#define CACHE_IF(...) ROW_OF(struct stats_cache_if, CACHE_IF, __VA_ARGS__)
#define WORKER(...) ROW_OF(struct stats_worker, WORKER, __VA_ARGS__)
#define UPSTREAM(...) ROW_OF(struct stats_upstream, UPSTREAM, __VA_ARGS__)
#define CERTIFICATE(...) \
    ROW_OF(struct stats_certificate, CERTIFICATE, __VA_ARGS__)
#define POINT(...) ROW_OF(struct history_point, POINT, __VA_ARGS__)
#define STORE(kind, unit, number, ...)                                 \
    ROW_AT(STORE, kind, unit, STATS_STORE_##number * sizeof(uint64_t), \
           sizeof(uint64_t), __VA_ARGS__)

/* The texts are the JSON's name, the report's label, the metric and the
 * metric's help; omitted texts are NULL. The rows of a part are in the order of
 * the JSON, on which readers of the JSON rely. */
static const struct stats_row rows[] = {
    ROW(SERVER, COUNTER, TEXT, options.version, "version"),
    ROW(SERVER, GAUGE, MOMENT, began_wall_ns, NULL, NULL, "start_time_seconds",
        "When the server started, since the epoch."),
    ROW(SERVER, GAUGE, MS, uptime_ms, "uptime_s", NULL, "uptime_seconds",
        "For how long it has run."),
    ROW(SERVER, COUNTER, MOMENT, wall_ns, "time"),
    ROW(SERVER, GAUGE, NUMBER, options.worker_count, "workers", NULL, "workers",
        "Threads that answer."),
    ROW(SERVER, COUNTER, TEXT, options.schedule, "schedule"),
    ROW(SERVER, GAUGE, BOOL, is_draining, "draining", NULL, "draining",
        "Whether it takes no more connections and is about to stop."),

    ROW(REQUESTS, COUNTER, NUMBER, requests, "total", "all"),
    ROW(REQUESTS, COUNTER, RATE, requests_a_second, NULL, "a second"),
    ROW(REQUESTS, COUNTER, NUMBER, incomplete, "incomplete", "incomplete",
        "responses_incomplete",
        "Responses given up before their last byte; streams of events have "
        "none."),
    ROW(METHODS, VECTOR, NUMBER, methods, "by_method", "", "requests",
        "Requests that have ended, by method.", .key = "method",
        .is_sparse = true, .top = {"", 1}),
    ROW(STATUSES, VECTOR, NUMBER, statuses, "by_status", "", "responses",
        "Responses, by status code.", .key = "code", .is_sparse = true,
        .top = {"", 1}),
    ROW(BYTES, COUNTER, BYTES, bytes_in, "in", "bytes received",
        "received_bytes", "Bytes of requests."),
    ROW(BYTES, COUNTER, BYTES, bytes_out, "out", "bytes sent", "sent_bytes",
        "Bytes of responses, heads included."),
    ROW(CONNECTIONS, GAUGE, NUMBER, open, "open", "open"),
    ROW(CONNECTIONS, COUNTER, NUMBER, accepted, "accepted", "accepted",
        "connections_accepted", "Connections that workers took over.",
        .top = {"accepted", 2}),
    ROW(CONNECTIONS, COUNTER, NUMBER, refused_in_all, "refused",
        .top = {"refused", 3}),
    ROW(CONNECTIONS, VECTOR, NUMBER, closed, "closed", "closed: ",
        "connections_closed", "Connections that have ended, by reason.",
        .key = "reason", .top = {"", 1}),
    ROW(CONNECTIONS, VECTOR, NUMBER, refused, NULL,
        "refused: ", "connections_refused",
        "Connections turned away, by reason.", .key = "reason"),

    ROW(TLS, VECTOR, NUMBER, tls.handshakes, "handshakes",
        "handshakes: ", "tls_handshakes", "Handshakes of TLS that were done.",
        .key = "kind", .top = {"", 1}),
    ROW(TLS, VECTOR, NUMBER, tls.failed, "failed",
        "failed: ", "tls_handshakes_failed",
        "Handshakes of TLS that were not done, by reason.", .key = "reason",
        .is_sparse = true, .top = {"failed", 2}),
    ROW(TLS, VECTOR, NUMBER, tls.versions, "versions", "", "tls_versions",
        "Handshakes of TLS, by version.", .key = "version", .is_sparse = true),
    ROW(TLS, VECTOR, NUMBER, tls.groups, "groups", "group: ", "tls_groups",
        "Handshakes of TLS, by group of the key exchange.", .key = "group",
        .is_sparse = true),

    ROW(HTTP2, VECTOR, NUMBER, http2.events, "events", "", "http2_events",
        "What came over HTTP/2.", .key = "kind", .is_sparse = true,
        .top = {"", 1}),
    ROW(HTTP2, VECTOR, NUMBER, http2.abuses, "abuses",
        "abuse: ", "http2_abuses",
        "Connections and streams of HTTP/2 that were ended because of too "
        "much, by kind.",
        .key = "kind", .is_sparse = true, .top = {"abuses", 2}),

    ROW(CACHE, COUNTER, TEXT, options.cache_policy, "policy", NULL, NULL, NULL,
        .top = {"", 1}),
    ROW(CACHE, COUNTER, NUMBER, cache.hits, "hits", "hits", "cache_hits",
        "Files found in the cache.", .top = {"hits", 4}),
    ROW(CACHE, COUNTER, NUMBER, cache.misses, "misses", "misses",
        "cache_misses", "Files that had to be opened.", .top = {"misses", 5}),
    ROW(CACHE, COUNTER, SHARE, hit_ratio, NULL, "hit ratio"),
    ROW(CACHE, COUNTER, NUMBER, cache.evictions, "evictions", "evictions",
        "cache_evictions", "Files that had to leave the cache for others.",
        .top = {"evictions", 6}),
    ROW(CACHE, GAUGE, BYTES, cache.bytes, "bytes", "bytes", "cache_bytes",
        "Memory that cached files take.", .top = {"holds", 2}),
    ROW(CACHE, GAUGE, NUMBER, cache.entries, "entries", "entries",
        "cache_entries", "Files in the cache.", .top = {"in", 3}),

    ROW(KEPT, COUNTER, NUMBER, kept.hits, "hits", "hits", "proxy_cache",
        "Requests for what is proxied, by what the cache of that had.",
        .key = "hit", .top = {"hits", 3}),
    ROW(KEPT, COUNTER, NUMBER, kept.stale, "stale", "stale hits", "proxy_cache",
        NULL, .key = "stale"),
    ROW(KEPT, COUNTER, NUMBER, kept.revalidated, "revalidated", "revalidated",
        "proxy_cache", NULL, .key = "revalidated"),
    ROW(KEPT, COUNTER, NUMBER, kept.misses, "misses", "misses", "proxy_cache",
        NULL, .key = "miss", .top = {"misses", 4}),
    ROW(KEPT, COUNTER, NUMBER, kept.bypassed, "bypassed", "passed by",
        "proxy_cache", NULL, .key = "bypass"),
    ROW(KEPT, GAUGE, BYTES, kept.bytes, "bytes", "bytes", "proxy_cache_bytes",
        "Bytes that the cache of what is proxied keeps.", .top = {"holds", 1}),
    ROW(KEPT, GAUGE, NUMBER, kept.entries, "entries", "entries",
        "proxy_cache_entries", "Answers that it keeps.", .top = {"in", 2}),
    ROW(KEPT, GAUGE, NUMBER, kept.files, "files", "files open",
        "proxy_cache_files", "Descriptors of their bodies."),
    ROW(KEPT, COUNTER, NUMBER, kept.evictions, "evictions", "evictions",
        "proxy_cache_evictions", "Answers that gave way to others.",
        .top = {"evictions", 5}),
    ROW(KEPT, COUNTER, NUMBER, kept.written, "written", "written to disk",
        "proxy_cache_written", "Answers that were written to the disk."),
    ROW(KEPT, COUNTER, NUMBER, kept.unwritten, "unwritten",
        "kept in memory only", "proxy_cache_unwritten",
        "Answers that were not: the disk was full, failed or did not keep up."),
    ROW(KEPT, COUNTER, NUMBER, kept.damaged, "damaged", "damaged",
        "proxy_cache_damaged", "Files that were found damaged."),

    ROW(COMPRESS, COUNTER, NUMBER, cache.coded, "sent", "sent", "compress_sent",
        "Answers with a file that was compressed here.", .top = {"sent", 1}),
    ROW(COMPRESS, COUNTER, BYTES, cache.saved_bytes, "saved_bytes",
        "bytes saved", "compress_saved_bytes",
        "Bytes that these answers have fewer than their files.",
        .top = {"saved", 2}),
    ROW(COMPRESS, COUNTER, NUMBER, compress.made, "made", "made",
        "compress_made", "Variants of files that were made.",
        .top = {"made", 3}),
    ROW(COMPRESS, COUNTER, NUMBER, compress.hopeless, "hopeless", "not smaller",
        "compress_hopeless", "Files that did not get smaller by a twentieth.",
        .top = {"not smaller", 4}),
    ROW(COMPRESS, COUNTER, NUMBER, compress.failed, "failed", "failed",
        "compress_failed",
        "Orders that failed: no memory, or the file changed meanwhile."),
    ROW(COMPRESS, COUNTER, NUMBER, compress.refused, "refused", "refused",
        "compress_refused", "Orders that found the queue full."),
    ROW(COMPRESS, COUNTER, BYTES, compress.bytes_in, "bytes_in", "bytes in",
        "compress_read_bytes", "Bytes that were made variants of."),
    ROW(COMPRESS, COUNTER, BYTES, compress.bytes_out, "bytes_out", "bytes out",
        "compress_written_bytes", "Bytes of these variants."),
    ROW(COMPRESS, COUNTER, NS, compress.cpu_ns, NULL, NULL,
        "compress_cpu_seconds", "Processor time of the compressing threads."),
    ROW(COMPRESS, GAUGE, NUMBER, compress.queued, "queued", "queued",
        "compress_queued", "Orders that wait or are being done.",
        .top = {"queued", 5}),
    ROW(COMPRESS, GAUGE, BYTES, compress.memory_bytes, "memory_bytes",
        "memory, bytes", "compress_memory_bytes",
        "Memory of the compressing threads, with results not fetched yet."),
    ROW(COMPRESS, GAUGE, BYTES, compress.memory_bytes_max, "memory_bytes_max",
        "at most", "compress_memory_max_bytes",
        "The most memory that they have had at a time."),

    ROW(QUEUE, GAUGE, NUMBER, queue_depth, "depth", "depth now"),
    ROW(QUEUE, GAUGE, NUMBER, queue_depth_max, "depth_max", "depth at most",
        NULL, NULL, .top = {"most", 2}),
    ROW(QUEUE, GAUGE, BYTES, queue_bytes, "bytes", "bytes now", NULL, NULL,
        .top = {"holds", 1}),
    ROW(QUEUE, COUNTER, NUMBER, overtakes, "overtakes", "overtakes",
        "queue_overtakes", "Responses sent before one that had waited longer.",
        .top = {"overtakes", 3}),

    ROW(LINK, COUNTER, TEXT, options.link_mode, "mode", NULL, NULL, NULL,
        .top = {"", 1}),
    ROW(LINK, GAUGE, BOOL, link.is_engaged, "engaged", NULL, NULL, NULL,
        .top = {", holds back", 2}),
    ROW(LINK, COUNTER, NUMBER, link.held, "held", "held back", "link_held",
        "Times that a response was held back.", .top = {"held", 6}),
    ROW(LINK, COUNTER, BYTES, link.held_bytes, "held_bytes", "bytes held back",
        "link_held_bytes", "Bytes that were held back."),
    ROW(LINK, COUNTER, NUMBER, link.measured, "measured", "measurements",
        "link_measurements", "System calls made to measure the queue."),
    ROW(LINK, GAUGE, BYTES, link.limit_bytes, "limit_bytes", "limit, bytes",
        "link_limit_bytes", "Bytes allowed in the local queue.",
        .top = {"budget", 5}),
    ROW(LINK, GAUGE, BYTES_A_SECOND, link.rate, "rate_bytes_per_second",
        "rate, bytes/s", "link_rate_bytes_per_second",
        "The link's estimated rate.", .top = {"rate", 3}),
    ROW(LINK, GAUGE, US, link.delay_us, "delay_us", "delay, us",
        "link_delay_seconds", "Estimated time in the local queue.",
        .top = {"delay", 4}),

    ROW(WHAT_IF, GAUGE, US, what_if_us[STATS_WHAT_IF_DID], "did_us", NULL, NULL,
        NULL, .top = {"took", 1}),
    ROW(WHAT_IF, GAUGE, US, what_if_us[STATS_WHAT_IF_FIFO], "fifo_us", NULL,
        NULL, NULL, .top = {"fifo", 2}),
    ROW(WHAT_IF, GAUGE, US, what_if_us[STATS_WHAT_IF_FAIR], "fair_us", NULL,
        NULL, NULL, .top = {"fair", 3}),
    ROW(WHAT_IF, GAUGE, US, what_if_us[STATS_WHAT_IF_SRPT], "srpt_us", NULL,
        NULL, NULL, .top = {"srpt", 4}),
    ROW(WHAT_IF, DISTRIBUTION, NS, what_if[STATS_WHAT_IF_DID], "did",
        "as it was", "whatif_seconds",
        "Of replies in samples of time: how long they took over the link "
        "(did), "
        "and would have taken in another order.",
        .key = "did"),
    ROW(WHAT_IF, DISTRIBUTION, NS, what_if[STATS_WHAT_IF_FIFO], "fifo", "fifo",
        "whatif_seconds", NULL, .key = "fifo"),
    ROW(WHAT_IF, DISTRIBUTION, NS, what_if[STATS_WHAT_IF_FAIR], "fair", "fair",
        "whatif_seconds", NULL, .key = "fair"),
    ROW(WHAT_IF, DISTRIBUTION, NS, what_if[STATS_WHAT_IF_SRPT], "srpt", "srpt",
        "whatif_seconds", NULL, .key = "srpt"),

    CACHE_IF(GAUGE, BYTES, bytes, "bytes"),
    CACHE_IF(GAUGE, SHARE, hit_ratio, "hit_ratio", NULL,
             "cache_whatif_hit_ratio",
             "Share of the requests for what lies in memory that a cache would "
             "have hit, by policy and size, as a multiple of what it is."),
    CACHE_IF(GAUGE, SHARE, byte_hit_ratio, "byte_hit_ratio", NULL,
             "cache_whatif_byte_hit_ratio", "The same, of bytes."),

    ROW(LOG, COUNTER, NUMBER, log_lines, "lines", "lines", "log_lines",
        "Lines handed to the access log.", .top = {"lines", 1}),
    ROW(LOG, COUNTER, NUMBER, log_dropped, "dropped", "dropped",
        "log_lines_dropped", "Lines of these that were lost.",
        .top = {"dropped", 2}),
    ROW(LOG, COUNTER, NUMBER, log_errors, "errors", "errors", "log_errors",
        "Failed writes of the access log.", .top = {"errors", 3}),
    ROW(CPU, COUNTER, NS, workers_cpu_ns, NULL, NULL, "workers_cpu_seconds",
        "Processor time that workers used."),
    ROW(CPU, COUNTER, NS, workers_wall_ns, NULL, NULL, "workers_wall_seconds",
        "Time that went by for all workers together."),
    ROW(CPU, VECTOR, NUMBER, samples, NULL, NULL, "profile_samples",
        "Samples at equal steps of processor time, by what was going on.",
        .key = "phase"),

    ROW(TIMES, DISTRIBUTION, NS, wait, "wait", "wait"),
    ROW(TIMES, DISTRIBUTION, NS, service, "service", "service",
        "response_service_seconds",
        "From the first to the last byte handed to the kernel."),
    ROW(TIMES, DISTRIBUTION, NS, total, "total", "total"),
    ROW(TIMES, DISTRIBUTION, NS, unsent, "unsent", "unsent",
        "response_unsent_seconds",
        "From the last byte handed over until the kernel had none unsent.",
        .is_sparse = true),
    SIZE(DISTRIBUTION, NS, wait, "wait", "Wait by size", "request_wait_seconds",
         "From a complete request to the first byte of its response handed to "
         "the kernel, by size of the body."),
    SIZE(DISTRIBUTION, NS, total, "total", "Total by size",
         "request_duration_seconds",
         "From the first byte read to the last byte handed to the kernel, by "
         "size of the body."),
    SIZE(GAUGE, NS, what_if_ns[STATS_WHAT_IF_DID], "what_if_did",
         .is_sparse = true),
    SIZE(GAUGE, NS, what_if_ns[STATS_WHAT_IF_FIFO], "what_if_fifo",
         .is_sparse = true),
    SIZE(GAUGE, NS, what_if_ns[STATS_WHAT_IF_FAIR], "what_if_fair",
         .is_sparse = true),
    SIZE(GAUGE, NS, what_if_ns[STATS_WHAT_IF_SRPT], "what_if_srpt",
         .is_sparse = true),

    WORKER(GAUGE, NUMBER, queue_depth, "depth", NULL, "queue_depth",
           "Responses that wait for their turn, by worker.",
           .top = {"queued", 1}),
    WORKER(GAUGE, NUMBER, queue_depth_max, "depth_max", NULL, "queue_depth_max",
           "The most that ever waited, by worker.", .top = {"most", 2}),
    WORKER(GAUGE, BYTES, queue_bytes, "bytes", NULL, "queue_bytes",
           "Bytes that waiting responses have left, by worker.",
           .top = {"bytes", 3}),
    WORKER(GAUGE, NUMBER, open, "open", NULL, "connections_open",
           "Connections that are open, by worker.", .top = {"open", 4}),
    WORKER(COUNTER, NUMBER, requests, "requests", NULL, "worker_requests",
           "Requests that have ended, by worker.", .top = {"requests", 5}),

    UPSTREAM(GAUGE, NUMBER, up, NULL, NULL, "upstream_up",
             "Whether requests go to a server: not while ejected or down."),
    UPSTREAM(GAUGE, NUMBER, active, "active", NULL, "upstream_active",
             "Requests that a server is at."),
    UPSTREAM(GAUGE, NUMBER, idle, "idle", NULL, "upstream_connections_idle",
             "Connections kept to it."),
    UPSTREAM(COUNTER, NUMBER, requests, "requests", "requests",
             "upstream_requests", "Requests that it was chosen for."),
    UPSTREAM(COUNTER, NUMBER, failures, "failures", "failures",
             "upstream_failures", "Of these, those that it failed."),
    UPSTREAM(COUNTER, NUMBER, retries, "retries", "retries", "upstream_retries",
             "Of these, those that were tried again."),
    UPSTREAM(COUNTER, NUMBER, connects, "connects", NULL, "upstream_connects",
             "New connections to it."),
    UPSTREAM(COUNTER, NUMBER, reuses, "reuses", NULL, "upstream_reuses",
             "Requests over a kept connection."),
    UPSTREAM(COUNTER, BYTES, bytes_in, "bytes_in", NULL,
             "upstream_received_bytes", "Bytes from it."),
    UPSTREAM(COUNTER, BYTES, bytes_out, "bytes_out", NULL,
             "upstream_sent_bytes", "Bytes to it."),
    UPSTREAM(COUNTER, NUMBER, handshakes, "handshakes", NULL,
             "upstream_tls_handshakes",
             "Handshakes of TLS with it that were done."),
    UPSTREAM(COUNTER, NUMBER, resumed, "resumed", NULL, "upstream_tls_resumed",
             "Of these, those that resumed a session."),
    UPSTREAM(COUNTER, NUMBER, handshakes_failed, "handshakes_failed", NULL,
             "upstream_tls_handshakes_failed",
             "Handshakes of TLS with it that were not done."),

    CERTIFICATE(GAUGE, MS, left_ms, "expiry_s", NULL,
                "certificate_expiry_seconds",
                "For how long the certificate of a site is still good; 0: it "
                "has expired."),
    CERTIFICATE(GAUGE, TEXT, names, "names", NULL, "certificate_names",
                "The names of the certificate of a site.", .is_sparse = true),
    CERTIFICATE(GAUGE, TEXT, issuer, "issuer", NULL, "certificate_issuer",
                "Who has signed the certificate of a site.", .is_sparse = true),
    CERTIFICATE(GAUGE, MOMENT, next_ns, "next_try", NULL,
                "certificate_next_try_time_seconds",
                "When an authority is asked for another certificate of a site, "
                "since the epoch.",
                .is_sparse = true),
    CERTIFICATE(GAUGE, NUMBER, failures, "failures", NULL,
                "certificate_failures",
                "How often in a row authorities have not given a site its "
                "certificate."),
    CERTIFICATE(GAUGE, TEXT, error, "error", NULL, "certificate_error",
                "Why they have not, the last time.", .is_sparse = true),

    STORE(COUNTER, NUMBER, FOUND, "found", "gets: found", "kv_gets",
          "Values asked for.", .key = "found"),
    STORE(COUNTER, NUMBER, MISSING, "missing", "gets: missing", "kv_gets", NULL,
          .key = "missing"),
    STORE(COUNTER, NUMBER, LISTS, "lists", "lists", "kv_lists",
          "Lists of keys begun."),
    STORE(COUNTER, NUMBER, CREATED, "created", "puts: created", "kv_puts",
          "Values put, in batches too.", .key = "created"),
    STORE(COUNTER, NUMBER, REPLACED, "replaced", "puts: replaced", "kv_puts",
          NULL, .key = "replaced"),
    STORE(COUNTER, NUMBER, DELETED, "deleted", "deletes: done", "kv_deletes",
          "Keys deleted, in batches too.", .key = "deleted"),
    STORE(COUNTER, NUMBER, NOT_DELETED, "not_deleted", "deletes: missing",
          "kv_deletes", NULL, .key = "missing"),
    STORE(COUNTER, NUMBER, BATCHES, "batches", "batches", "kv_batches",
          "Batches done."),
    STORE(COUNTER, NUMBER, PRECONDITIONS, "preconditions",
          "not done: condition", "kv_undone",
          "Questions and writes not done, by why.", .key = "precondition"),
    STORE(COUNTER, NUMBER, BUSY, "busy", "not done: busy", "kv_undone", NULL,
          .key = "busy"),
    STORE(COUNTER, NUMBER, FULL, "full", "not done: full", "kv_undone", NULL,
          .key = "full"),
    STORE(COUNTER, NUMBER, FAILED, "failed", "not done: failed", "kv_undone",
          NULL, .key = "failed"),
    STORE(COUNTER, BYTES, BYTES_IN, "bytes_in", "bytes in", "kv_received_bytes",
          "Bytes of values that were put."),
    STORE(COUNTER, BYTES, BYTES_OUT, "bytes_out", "bytes out", "kv_sent_bytes",
          "Bytes of values in answers."),
    STORE(GAUGE, NUMBER, KEYS, "keys", "keys", "kv_keys",
          "Keys there are, with expired ones not yet swept."),
    STORE(GAUGE, BYTES, MAP_BYTES, "map_bytes", "bytes of the map",
          "kv_map_bytes", "Address space that the store has taken."),
    STORE(GAUGE, BYTES, USED_BYTES, "used_bytes", "bytes of the file",
          "kv_used_bytes", "Bytes that the store's file has needed."),
    STORE(COUNTER, NUMBER, COMMITS, "commits", "commits", "kv_commits",
          "Transactions committed."),
    STORE(COUNTER, NUMBER, WRITES, "writes", "writes answered", "kv_writes",
          "Writes that the store has answered."),
    STORE(COUNTER, NUMBER, SWEPT, "swept", "expired, swept", "kv_swept",
          "Expired keys removed."),
    STORE(GAUGE, NUMBER, QUEUE_WRITES, "queue_writes", "writes that wait",
          "kv_queue_writes", "Writes that wait for a commit."),
    STORE(GAUGE, BYTES, QUEUE_BYTES, "queue_bytes", "bytes of these",
          "kv_queue_bytes", "Bytes of writes that wait."),
    STORE(COUNTER, NUMBER, CACHE_HITS, "cache_hits", "cache: hits", "kv_cache",
          "Values looked for in the cache.", .key = "hit"),
    STORE(COUNTER, NUMBER, CACHE_MISSES, "cache_misses", "cache: misses",
          "kv_cache", NULL, .key = "miss"),
    STORE(COUNTER, NUMBER, CACHE_EVICTIONS, "cache_evictions",
          "cache: evictions", "kv_cache_evictions",
          "Values that gave way to others."),
    STORE(GAUGE, BYTES, CACHE_BYTES, "cache_bytes", "cache: bytes",
          "kv_cache_bytes", "Bytes in the cache."),
    STORE(COUNTER, NUMBER, CALLS, "calls", "commands sent", "kv_calls",
          "Commands sent to other machines."),
    STORE(COUNTER, NUMBER, RESENT, "resent", "of these, again",
          "kv_calls_resent",
          "Commands sent again: redirected, or after a connection was lost."),
    STORE(COUNTER, NUMBER, TIMEOUTS, "timeouts", "not in time", "kv_timeouts",
          "Questions that had no answer in time."),
    STORE(COUNTER, NUMBER, UNREACHABLE, "unreachable", "nobody reached",
          "kv_unreachable", "Questions when no machine was reached."),
    STORE(COUNTER, NUMBER, CONNECTS, "connects", "connections", "kv_connects",
          "Connections to other machines."),

    POINT(GAUGE, MOMENT, wall_ns, NULL),
    POINT(COUNTER, NUMBER, requests, NULL, "Requests/s"),
    POINT(COUNTER, BYTES, bytes_out, NULL, "Sent/s"),
    POINT(GAUGE, NS, total_p50_ns, NULL, "p50"),
    POINT(GAUGE, NS, total_p90_ns, NULL, "p90"),
    POINT(GAUGE, NS, total_p99_ns, NULL, "p99"),
    POINT(GAUGE, NS, wait_p99_ns, NULL, "p99 waiting"),
    POINT(GAUGE, SHARE, hit_ratio, NULL, "Cache hits"),
    POINT(GAUGE, NUMBER, queue_depth, NULL, "Queue depth"),
    POINT(GAUGE, NUMBER, open, NULL, "Connections"),
};

const struct stats_row *stats_row_next(enum stats_part part,
                                       const struct stats_row *row)
{
    for (row = row ? row + 1 : rows; row < rows + sizeof(rows) / sizeof(*rows);
         row++)
        if (row->part == part)
            return row;
    return NULL;
}

const void *stats_row_at(const struct stats_row *row, const void *base)
{
    return (const char *)base + row->offset;
}

uint64_t stats_row_number(const struct stats_row *row, const void *base)
{
    const void *at = stats_row_at(row, base);

    if (row->bytes == sizeof(bool))
        return *(const bool *)at;
    return row->bytes == sizeof(uint64_t) ? *(const uint64_t *)at
                                          : *(const size_t *)at;
}

bool stats_row_is_left_out(const struct stats_row *row, const void *base)
{
    if (row->kind != STATS_KIND_GAUGE || !row->is_sparse)
        return false;
    return row->unit == STATS_UNIT_TEXT ? *stats_row_text(row, base) == '\0'
                                        : stats_row_number(row, base) == 0;
}

const char *stats_row_text(const struct stats_row *row, const void *base)
{
    return *(const char *const *)stats_row_at(row, base);
}
