#include "observe/report.h"

#include <stdio.h>

#include "base/units.h"

enum { TEXT_MAX = 24, S_PER_MIN = 60, MIN_PER_H = 60 };

static const char *const size_labels[STATS_SIZE_COUNT] = {
    "to 1 KiB", "to 10 KiB", "to 100 KiB", "to 1 MiB", "larger"};

static void put_row(struct buf *out, const char *label, uint64_t value)
{
    buf_printf(out, "  %-20s%20llu\n", label, (unsigned long long)value);
}

static void put_percent(struct buf *out, const char *label, double share)
{
    buf_printf(out, "  %-20s%18.1f %%\n", label, 100 * share);
}

static void put_head(struct buf *out, const struct stats_snapshot *snapshot)
{
    uint64_t ms = snapshot->uptime_ms;
    uint64_t min = ms / MS_PER_S / S_PER_MIN;

    buf_printf(out,
               "Server Statistic Report of sprintd %s\n"
               "up %llu h %llu min %.1f s, %zu worker%s, schedule %s%s\n",
               snapshot->options.version, (unsigned long long)(min / MIN_PER_H),
               (unsigned long long)(min % MIN_PER_H),
               (double)(ms - min * S_PER_MIN * MS_PER_S) / MS_PER_S,
               snapshot->options.worker_count,
               snapshot->options.worker_count == 1 ? "" : "s",
               snapshot->options.schedule,
               snapshot->is_draining ? ", draining" : "");
}

static void put_requests(struct buf *out, const struct stats_snapshot *snapshot)
{
    double seconds = (double)snapshot->uptime_ms / MS_PER_S;

    buf_put_literal(out, "\nRequests\n");
    for (size_t i = 0; i < snapshot->options.method_count; i++)
        if (snapshot->methods[i] > 0)
            put_row(out, snapshot->options.method_names[i],
                    snapshot->methods[i]);
    put_row(out, "all", snapshot->requests);
    if (seconds > 0)
        buf_printf(out, "  %-20s%20.1f\n", "a second",
                   (double)snapshot->requests / seconds);
    put_row(out, "incomplete", snapshot->incomplete);

    buf_put_literal(out, "\nResponses\n");
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++)
        if (snapshot->statuses[i] > 0)
            buf_printf(out, "  %-20u%20llu\n", STATS_STATUS_MIN + i,
                       (unsigned long long)snapshot->statuses[i]);
    put_row(out, "bytes received", snapshot->bytes_in);
    put_row(out, "bytes sent", snapshot->bytes_out);
}

/* --- Times ---------------------------------------------------------------- */

static void put_ms(struct buf *out, const char *label, double ns)
{
    buf_printf(out, "  %-20s%20.3f\n", label, ns / NS_PER_MS);
}

static void put_request_time(struct buf *out, const struct distribution *total)
{
    buf_put_literal(out, "\nRequest time in ms, first byte read to last byte "
                         "handed to the kernel\n");
    put_ms(out, "total", (double)total->sum);
    put_ms(out, "min", (double)total->min);
    put_ms(out, "median", (double)distribution_quantile(total, 0.5));
    put_ms(out, "mean", distribution_mean(total));
    put_ms(out, "max", (double)total->max);
}

/* In seven characters, whatever it is, so that columns stay apart. */
static void put_cell(struct buf *out, double ns)
{
    double ms = ns / NS_PER_MS;

    if (ms < 100)
        buf_printf(out, "%8.3f", ms);
    else if (ms < 10000)
        buf_printf(out, "%8.1f", ms);
    else if (ms < 9999999)
        buf_printf(out, "%8.0f", ms);
    else
        buf_printf(out, "%8.1e", ms);
}

static void put_times_row(struct buf *out, const char *label,
                          const struct distribution *times)
{
    static const double shares[] = {0.5, 0.9, 0.99, 0.999};
    char count[TEXT_MAX];

    if (times->count < 10000000000)
        snprintf(count, sizeof(count), "%llu",
                 (unsigned long long)times->count);
    else
        snprintf(count, sizeof(count), "%.3e", (double)times->count);
    buf_printf(out, "  %-11s%10s", label, count);
    put_cell(out, (double)times->min);
    put_cell(out, distribution_mean(times));
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
        put_cell(out, (double)distribution_quantile(times, shares[i]));
    put_cell(out, (double)times->max);
    buf_put_literal(out, "\n");
}

static void put_times_head(struct buf *out, const char *title)
{
    buf_printf(out, "\n%-13s%10s%8s%8s%8s%8s%8s%8s%8s\n", title, "count", "min",
               "mean", "median", "p90", "p99", "p99.9", "max");
}

static void put_times(struct buf *out, const struct stats_snapshot *snapshot)
{
    put_times_head(out, "Times in ms");
    put_times_row(out, "wait", &snapshot->wait);
    put_times_row(out, "service", &snapshot->service);
    put_times_row(out, "total", &snapshot->total);
    if (snapshot->drain.count > 0)
        put_times_row(out, "drain", &snapshot->drain);
    put_times_head(out, "Wait by size");
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++)
        if (snapshot->sizes[i].wait.count > 0)
            put_times_row(out, size_labels[i], &snapshot->sizes[i].wait);
    put_times_head(out, "Total by size");
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++)
        if (snapshot->sizes[i].total.count > 0)
            put_times_row(out, size_labels[i], &snapshot->sizes[i].total);
}

/* --- The rest ------------------------------------------------------------- */

static void put_connections(struct buf *out,
                            const struct stats_snapshot *snapshot)
{
    char label[TEXT_MAX];

    buf_put_literal(out, "\nConnections\n");
    put_row(out, "accepted", snapshot->accepted);
    put_row(out, "open", snapshot->open);
    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++) {
        snprintf(label, sizeof(label), "closed: %s", stats_close_name(i));
        put_row(out, label, snapshot->closed[i]);
    }
    for (unsigned i = 0; i < STATS_REFUSAL_COUNT; i++) {
        snprintf(label, sizeof(label), "refused: %s", stats_refusal_name(i));
        put_row(out, label, snapshot->refused[i]);
    }
}

static void put_cache(struct buf *out, const struct stats_snapshot *snapshot)
{
    const struct stats_cache *cache = &snapshot->cache;

    if (cache->hits + cache->misses == 0)
        return;
    buf_printf(out, "\nCache, policy %s\n", snapshot->options.cache_policy);
    put_row(out, "hits", cache->hits);
    put_row(out, "misses", cache->misses);
    put_percent(out, "hit ratio",
                (double)cache->hits / (double)(cache->hits + cache->misses));
    put_row(out, "evictions", cache->evictions);
    put_row(out, "bytes", cache->bytes);
    put_row(out, "entries", cache->entries);
}

static void put_queue(struct buf *out, const struct stats_snapshot *snapshot)
{
    const struct stats_link *link = &snapshot->link;

    buf_put_literal(out, "\nQueue\n");
    put_row(out, "depth now", snapshot->queue_depth);
    put_row(out, "depth at most", snapshot->queue_depth_max);
    put_row(out, "bytes now", snapshot->queue_bytes);
    put_row(out, "overtakes", snapshot->overtakes);
    if (link->measured + link->held == 0)
        return;
    buf_printf(out, "\nLink, mode %s%s\n", snapshot->options.link_mode,
               link->is_engaged ? ", engaged" : "");
    put_row(out, "held back", link->held);
    put_row(out, "bytes held back", link->held_bytes);
    put_row(out, "measurements", link->measured);
    put_row(out, "limit, bytes", link->limit_bytes);
    put_row(out, "rate, bytes/s", link->rate);
    put_row(out, "delay, us", link->delay_us);
}

static void put_store(struct buf *out,
                      const struct stats_store_options *options,
                      const uint64_t *numbers)
{
    buf_printf(out, "\nStore %.60s, engine %s\n", options->prefix,
               options->engine);
    for (unsigned i = 0; i < STATS_STORE_NUMBERS; i++)
        if (stats_store_has(options, i))
            put_row(out, stats_store_rows[i].label, numbers[i]);
    if (numbers[STATS_STORE_COMMITS] > 0)
        buf_printf(out, "  %-20s%20.1f\n", "writes a commit",
                   (double)numbers[STATS_STORE_WRITES] /
                       (double)numbers[STATS_STORE_COMMITS]);
}

/* In ten characters, whatever it is. */
static void put_count(struct buf *out, uint64_t count)
{
    if (count < 1000000000)
        buf_printf(out, "%10llu", (unsigned long long)count);
    else
        buf_printf(out, "%10.2e", (double)count);
}

enum { PROXY_COLUMNS = 11 };

static void put_upstreams(struct buf *out,
                          const struct stats_snapshot *snapshot)
{
    const struct stats_upstreams *upstreams = snapshot->upstreams;

    if (!upstreams || upstreams->count == 0)
        return;
    buf_printf(out, "\n%-38s%10s%10s%10s%10s\n", "Upstreams", "state",
               "requests", "failures", "retries");
    for (size_t i = 0; i < upstreams->count; i++) {
        struct stats_upstream row;

        upstreams->read(upstreams->context, i, snapshot->mono_ms, &row);
        /* A long name has a line of its own. */
        if (strlen(row.proxy) > PROXY_COLUMNS)
            buf_printf(out, "  %s\n", row.proxy);
        buf_printf(out, "  %-*s %-24.24s%10s", PROXY_COLUMNS,
                   strlen(row.proxy) > PROXY_COLUMNS ? "" : row.proxy,
                   row.server, stats_upstream_state_name(row.state));
        put_count(out, row.requests);
        put_count(out, row.failures);
        put_count(out, row.retries);
        buf_put_literal(out, "\n");
    }
}

static void put_log(struct buf *out, const struct stats_snapshot *snapshot)
{
    if (snapshot->log_lines + snapshot->log_errors == 0)
        return;
    buf_put_literal(out, "\nAccess log\n");
    put_row(out, "lines", snapshot->log_lines);
    put_row(out, "dropped", snapshot->log_dropped);
    put_row(out, "errors", snapshot->log_errors);
}

static void put_profile(struct buf *out, const struct stats_snapshot *snapshot)
{
    if (!snapshot->options.is_profiled)
        return;
    buf_put_literal(out, "\nWhere the workers' time went\n");
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        put_percent(out, stats_phase_name(i), snapshot->shares.phases[i]);
    put_percent(out, "idle", snapshot->shares.idle);
}

void report_put(struct buf *out, const struct stats_snapshot *snapshot)
{
    put_head(out, snapshot);
    put_requests(out, snapshot);
    put_request_time(out, &snapshot->total);
    put_times(out, snapshot);
    put_connections(out, snapshot);
    put_cache(out, snapshot);
    put_queue(out, snapshot);
    for (size_t i = 0; i < snapshot->options.store_count; i++)
        put_store(out, &snapshot->options.stores[i], snapshot->stores[i]);
    put_upstreams(out, snapshot);
    put_log(out, snapshot);
    put_profile(out, snapshot);
}
