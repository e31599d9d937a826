#include "observe/report.h"

#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "observe/stats_objects.h"

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

static void put_real(struct buf *out, const char *label, double value)
{
    buf_printf(out, "  %-20s%20.1f\n", label, value);
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

/* Puts a time into seven characters, so that columns stay aligned. */
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
    char count[TEXT_MAX];

    if (times->count < 10000000000)
        snprintf(count, sizeof(count), "%llu",
                 (unsigned long long)times->count);
    else
        snprintf(count, sizeof(count), "%.3e", (double)times->count);
    buf_printf(out, "  %-11s%10s", label, count);
    for (unsigned i = 0; i < STATS_QUANTILE_COUNT; i++)
        put_cell(out, (double)stats_quantile_of(&stats_quantiles[i], times));
    buf_put_literal(out, "\n");
}

static void put_times_head(struct buf *out, const char *title)
{
    buf_printf(out, "\n%-13s%10s", title, "count");
    for (unsigned i = 0; i < STATS_QUANTILE_COUNT; i++)
        buf_printf(out, "%8s", stats_quantiles[i].title);
    buf_put_literal(out, "\n");
}

static void put_times_by_size(struct buf *out,
                              const struct stats_snapshot *snapshot)
{
    const struct stats_row *row = NULL;

    while ((row = stats_row_next(STATS_PART_SIZE, row))) {
        if (row->kind != STATS_KIND_DISTRIBUTION)
            continue;
        put_times_head(out, row->label);
        for (unsigned i = 0; i < STATS_SIZE_COUNT; i++) {
            const struct distribution *times =
                stats_row_at(row, &snapshot->sizes[i]);

            if (times->count > 0)
                put_times_row(out, size_labels[i], times);
        }
    }
}

/* --- The cache with other sizes and policies ------------------------------ */

static void put_cache_if(struct buf *out, const struct stats_snapshot *snapshot)
{
    const struct stats_cache_if *cell = snapshot->cache_if;

    if (snapshot->cache_told.requests == 0)
        return;
    buf_printf(out, "\n%-13s", "Cache, if");
    for (unsigned i = 0; i < MINIATURE_SIZES; i++)
        buf_printf(out, "%11s x", cell[i].size);
    for (unsigned i = 0; i < MINIATURE_MODELS; i++) {
        if (i % MINIATURE_SIZES == 0)
            buf_printf(out, "\n  %-11s", cell[i].policy);
        buf_printf(out, " %5.1f/%4.1f %%", 100 * cell[i].hit_ratio,
                   100 * cell[i].byte_hit_ratio);
    }
    buf_put_literal(out,
                    "\n  of requests/of bytes hit; a size as a multiple of "
                    "what it is\n");
}

/* --- What the table has -------------------------------------------------- */

static void put_vector(struct buf *out, const struct stats_row *row,
                       const struct stats_snapshot *snapshot)
{
    struct stats_item item = {0};
    char label[TEXT_MAX];

    while (stats_item_next(row, snapshot, &item)) {
        snprintf(label, sizeof(label), "%s%s", row->label, item.name);
        if (item.value > 0 || !row->is_sparse)
            put_row(out, label, item.value);
    }
}

static void put_value(struct buf *out, const struct stats_row *row,
                      const void *base)
{
    const void *at = stats_row_at(row, base);

    if (row->kind == STATS_KIND_VECTOR) {
        put_vector(out, row, base);
    } else if (row->kind == STATS_KIND_DISTRIBUTION) {
        const struct distribution *times = at;

        if (times->count > 0 || !row->is_sparse)
            put_times_row(out, row->label, times);
    } else if (row->unit == STATS_UNIT_SHARE) {
        put_percent(out, row->label, *(const double *)at);
    } else if (row->unit != STATS_UNIT_RATE) {
        put_row(out, row->label, stats_row_number(row, base));
    } else if (!isnan(*(const double *)at)) {
        put_real(out, row->label, *(const double *)at);
    }
}

static void put_rows(struct buf *out, enum stats_part part,
                     const struct stats_object *object)
{
    const struct stats_row *row = NULL;

    while ((row = stats_row_next(part, row)))
        if (row->label && stats_object_has(object, row))
            put_value(out, row, object->base);
}

static void put_stores(struct buf *out, const struct stats_snapshot *snapshot)
{
    struct stats_object object;

    for (size_t i = 0; i < snapshot->options.store_count; i++) {
        const uint64_t *numbers = snapshot->stores[i];

        stats_object_get(snapshot, STATS_PART_STORE, i, &object);
        buf_printf(out, "\nStore %.60s, engine %s\n", object.store->prefix,
                   object.store->engine);
        put_rows(out, STATS_PART_STORE, &object);
        if (numbers[STATS_STORE_COMMITS] > 0)
            put_real(out, "writes a commit",
                     (double)numbers[STATS_STORE_WRITES] /
                         (double)numbers[STATS_STORE_COMMITS]);
    }
}

/* Puts a count into ten characters. */
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
        /* A long prefix of a proxy gets a line of its own. */
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

static void put_profile(struct buf *out, const struct stats_snapshot *snapshot)
{
    buf_put_literal(out, "\nWhere the workers' time went\n");
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        put_percent(out, stats_phase_name(i), snapshot->shares.phases[i]);
    put_percent(out, "idle", snapshot->shares.idle);
}

/* Whether any number of a part is not 0. */
static bool has_any(enum stats_part part, const struct stats_snapshot *snapshot)
{
    for (const struct stats_row *row = NULL; (row = stats_row_next(part, row));)
        if (stats_row_number(row, snapshot) > 0)
            return true;
    return false;
}

void report_put(struct buf *out, const struct stats_snapshot *snapshot)
{
    const struct stats_options *options = &snapshot->options;
    const struct stats_object all = {.base = snapshot};
    const struct stats_link *link = &snapshot->link;

    put_head(out, snapshot);
    buf_put_literal(out, "\nRequests\n");
    put_rows(out, STATS_PART_METHODS, &all);
    put_rows(out, STATS_PART_REQUESTS, &all);
    buf_put_literal(out, "\nResponses\n");
    put_rows(out, STATS_PART_STATUSES, &all);
    put_rows(out, STATS_PART_BYTES, &all);
    put_request_time(out, &snapshot->total);
    put_times_head(out, "Times in ms");
    put_rows(out, STATS_PART_TIMES, &all);
    put_times_by_size(out, snapshot);
    if (snapshot->what_if[STATS_WHAT_IF_DID].count > 0) {
        put_times_head(out, "What if, ms");
        put_rows(out, STATS_PART_WHAT_IF, &all);
    }
    buf_put_literal(out, "\nConnections\n");
    put_rows(out, STATS_PART_CONNECTIONS, &all);
    if (stats_http2_is_used(&snapshot->http2)) {
        buf_put_literal(out, "\nHTTP/2\n");
        put_rows(out, STATS_PART_HTTP2, &all);
    }
    if (stats_tls_is_used(&snapshot->tls)) {
        buf_put_literal(out, "\nTLS\n");
        put_rows(out, STATS_PART_TLS, &all);
    }
    if (!isnan(snapshot->hit_ratio)) {
        buf_printf(out, "\nCache, policy %s\n", options->cache_policy);
        put_rows(out, STATS_PART_CACHE, &all);
        put_cache_if(out, snapshot);
    }
    if (stats_kept_is_used(&snapshot->kept)) {
        buf_put_literal(out, "\nCache of what is proxied\n");
        put_rows(out, STATS_PART_KEPT, &all);
    }
    if (has_any(STATS_PART_COMPRESS, snapshot)) {
        buf_put_literal(out, "\nCompression\n");
        put_rows(out, STATS_PART_COMPRESS, &all);
    }
    buf_put_literal(out, "\nQueue\n");
    put_rows(out, STATS_PART_QUEUE, &all);
    if (link->measured + link->held > 0) {
        buf_printf(out, "\nLink, mode %s%s\n", options->link_mode,
                   link->is_engaged ? ", engaged" : "");
        put_rows(out, STATS_PART_LINK, &all);
    }
    put_stores(out, snapshot);
    put_upstreams(out, snapshot);
    if (snapshot->log_lines + snapshot->log_errors > 0) {
        buf_put_literal(out, "\nAccess log\n");
        put_rows(out, STATS_PART_LOG, &all);
    }
    if (options->is_profiled)
        put_profile(out, snapshot);
}
