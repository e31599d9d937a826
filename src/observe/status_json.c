#include "observe/status_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "observe/decimal.h"

enum { US_PLACES = 3, MS_PLACES = 3 };

/* --- JSON, member by member ----------------------------------------------- */

struct json {
    struct buf *out;
    bool needs_comma;
};

/* What comes before a value; without a name in an array. */
static void begin(struct json *json, const char *name)
{
    if (json->needs_comma)
        buf_put_literal(json->out, ",");
    json->needs_comma = true;
    if (!name)
        return;
    buf_put_literal(json->out, "\"");
    buf_put_json(json->out, bytes_of(name));
    buf_put_literal(json->out, "\":");
}

static void put_open(struct json *json, const char *name, const char *bracket)
{
    begin(json, name);
    buf_put(json->out, bytes_of(bracket));
    json->needs_comma = false;
}

static void put_close(struct json *json, const char *bracket)
{
    buf_put(json->out, bytes_of(bracket));
    json->needs_comma = true;
}

static void put_number(struct json *json, const char *name, uint64_t number)
{
    begin(json, name);
    buf_put_number(json->out, number);
}

/* Of what has no bound, or has not happened. */
static void put_null(struct json *json, const char *name)
{
    begin(json, name);
    buf_put_literal(json->out, "null");
}

static void put_us(struct json *json, const char *name, uint64_t ns)
{
    begin(json, name);
    decimal_put(json->out, ns, US_PLACES);
}

static void put_moment(struct json *json, const char *name, int64_t wall_ns)
{
    begin(json, name);
    decimal_put(json->out, (uint64_t)wall_ns / NS_PER_MS, MS_PLACES);
}

static void put_share(struct json *json, const char *name, double share)
{
    begin(json, name);
    decimal_put_share(json->out, share);
}

static void put_bool(struct json *json, const char *name, bool value)
{
    begin(json, name);
    buf_put(json->out, bytes_of(value ? "true" : "false"));
}

static void put_text(struct json *json, const char *name, struct bytes text)
{
    begin(json, name);
    buf_put_literal(json->out, "\"");
    buf_put_json(json->out, text);
    buf_put_literal(json->out, "\"");
}

/* --- Its parts ------------------------------------------------------------ */

static void put_requests(struct json *json,
                         const struct stats_snapshot *snapshot)
{
    put_open(json, "requests", "{");
    put_number(json, "total", snapshot->requests);
    put_number(json, "incomplete", snapshot->incomplete);
    put_open(json, "by_method", "{");
    for (size_t i = 0; i < snapshot->options.method_count; i++)
        if (snapshot->methods[i] > 0)
            put_number(json, snapshot->options.method_names[i],
                       snapshot->methods[i]);
    put_close(json, "}");
    put_open(json, "by_status", "{");
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++) {
        unsigned status = STATS_STATUS_MIN + i;
        char name[] = {(char)('0' + status / 100),
                       (char)('0' + status / 10 % 10),
                       (char)('0' + status % 10), '\0'};

        if (snapshot->statuses[i] > 0)
            put_number(json, name, snapshot->statuses[i]);
    }
    put_close(json, "}");
    put_close(json, "}");
}

static void put_connections(struct json *json,
                            const struct stats_snapshot *snapshot)
{
    uint64_t refused = 0;

    for (unsigned i = 0; i < STATS_REFUSAL_COUNT; i++)
        refused += snapshot->refused[i];
    put_open(json, "bytes", "{");
    put_number(json, "in", snapshot->bytes_in);
    put_number(json, "out", snapshot->bytes_out);
    put_close(json, "}");
    put_open(json, "connections", "{");
    put_number(json, "open", snapshot->open);
    put_number(json, "accepted", snapshot->accepted);
    put_number(json, "refused", refused);
    put_open(json, "closed", "{");
    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++)
        put_number(json, stats_close_name(i), snapshot->closed[i]);
    put_close(json, "}");
    put_close(json, "}");
}

static void put_cache(struct json *json, const struct stats_snapshot *snapshot)
{
    const struct stats_cache *cache = &snapshot->cache;

    put_open(json, "cache", "{");
    put_text(json, "policy", bytes_of(snapshot->options.cache_policy));
    put_number(json, "hits", cache->hits);
    put_number(json, "misses", cache->misses);
    put_number(json, "evictions", cache->evictions);
    put_number(json, "bytes", cache->bytes);
    put_number(json, "entries", cache->entries);
    put_close(json, "}");
}

static void put_queue(struct json *json, const struct stats_snapshot *snapshot)
{
    put_open(json, "queue", "{");
    put_number(json, "depth", snapshot->queue_depth);
    put_number(json, "depth_max", snapshot->queue_depth_max);
    put_number(json, "bytes", snapshot->queue_bytes);
    put_number(json, "overtakes", snapshot->overtakes);
    put_open(json, "by_worker", "[");
    for (size_t i = 0; i < snapshot->options.worker_count; i++) {
        const struct stats_worker *worker = &snapshot->workers[i];

        put_open(json, NULL, "{");
        put_number(json, "worker", i);
        put_number(json, "depth", worker->queue_depth);
        put_number(json, "depth_max", worker->queue_depth_max);
        put_number(json, "bytes", worker->queue_bytes);
        put_number(json, "open", worker->open);
        put_number(json, "requests", worker->requests);
        put_close(json, "}");
    }
    put_close(json, "]");
    put_close(json, "}");
}

static void put_link(struct json *json, const struct stats_snapshot *snapshot)
{
    const struct stats_link *link = &snapshot->link;

    put_open(json, "link", "{");
    put_text(json, "mode", bytes_of(snapshot->options.link_mode));
    put_bool(json, "engaged", link->is_engaged);
    put_number(json, "held", link->held);
    put_number(json, "held_bytes", link->held_bytes);
    put_number(json, "measured", link->measured);
    put_number(json, "limit_bytes", link->limit_bytes);
    put_number(json, "rate_bytes_per_second", link->rate);
    put_number(json, "delay_us", link->delay_us);
    put_close(json, "}");
    put_open(json, "log", "{");
    put_number(json, "lines", snapshot->log_lines);
    put_number(json, "dropped", snapshot->log_dropped);
    put_number(json, "errors", snapshot->log_errors);
    put_close(json, "}");
}

static void put_stores(struct json *json, const struct stats_snapshot *snapshot)
{
    put_open(json, "stores", "[");
    for (size_t i = 0; i < snapshot->options.store_count; i++) {
        const struct stats_store_options *store = &snapshot->options.stores[i];

        put_open(json, NULL, "{");
        put_text(json, "prefix", bytes_of(store->prefix));
        put_text(json, "engine", bytes_of(store->engine));
        for (unsigned k = 0; k < STATS_STORE_NUMBERS; k++)
            if (stats_store_has(store, k))
                put_number(json, stats_store_rows[k].name,
                           snapshot->stores[i][k]);
        put_close(json, "}");
    }
    put_close(json, "]");
}

static void put_distribution(struct json *json, const char *name,
                             const struct distribution *distribution)
{
    put_open(json, name, "{");
    put_number(json, "count", distribution->count);
    put_us(json, "min", distribution->min);
    put_us(json, "mean", (uint64_t)(distribution_mean(distribution) + 0.5));
    put_us(json, "p50", distribution_quantile(distribution, 0.5));
    put_us(json, "p90", distribution_quantile(distribution, 0.9));
    put_us(json, "p99", distribution_quantile(distribution, 0.99));
    put_us(json, "p999", distribution_quantile(distribution, 0.999));
    put_us(json, "max", distribution->max);
    put_close(json, "}");
}

static void put_times(struct json *json, const struct stats_snapshot *snapshot)
{
    put_open(json, "times", "{");
    put_distribution(json, "wait", &snapshot->wait);
    put_distribution(json, "service", &snapshot->service);
    put_distribution(json, "total", &snapshot->total);
    put_distribution(json, "drain", &snapshot->drain);
    put_close(json, "}");
    put_open(json, "sizes", "[");
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++) {
        put_open(json, NULL, "{");
        if (stats_size_bound(i) < UINT64_MAX) {
            put_number(json, "to_bytes", stats_size_bound(i));
        } else {
            put_null(json, "to_bytes");
        }
        put_number(json, "count", snapshot->sizes[i].total.count);
        put_distribution(json, "wait", &snapshot->sizes[i].wait);
        put_distribution(json, "total", &snapshot->sizes[i].total);
        put_close(json, "}");
    }
    put_close(json, "]");
}

static void put_profile(struct json *json,
                        const struct stats_snapshot *snapshot)
{
    put_open(json, "profile", "{");
    put_bool(json, "enabled", snapshot->options.is_profiled);
    put_share(json, "idle", snapshot->shares.idle);
    put_open(json, "phases", "{");
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        put_share(json, stats_phase_name(i), snapshot->shares.phases[i]);
    put_close(json, "}");
    put_close(json, "}");
}

/* Without a request there is no time of one: 0 would be a fast one. */
static void put_known_us(struct json *json, uint64_t ns)
{
    if (ns > 0)
        put_us(json, NULL, ns);
    else
        put_null(json, NULL);
}

static void put_point(struct json *json, const char *name,
                      const struct history_point *point)
{
    put_open(json, name, "[");
    put_moment(json, NULL, point->wall_ns);
    put_number(json, NULL, point->requests);
    put_number(json, NULL, point->bytes_out);
    put_known_us(json, point->total_p50_ns);
    put_known_us(json, point->total_p90_ns);
    put_known_us(json, point->total_p99_ns);
    put_known_us(json, point->wait_p99_ns);
    if (isnan(point->hit_ratio))
        put_null(json, NULL);
    else
        put_share(json, NULL, point->hit_ratio);
    put_number(json, NULL, point->queue_depth);
    put_number(json, NULL, point->open);
    put_close(json, "]");
}

static void put_slowest(struct json *json,
                        const struct stats_snapshot *snapshot)
{
    char peer[ADDRESS_TEXT_MAX];

    put_open(json, "slowest", "[");
    for (unsigned i = 0; i < snapshot->slowest_count; i++) {
        const struct slow_request *slow = &snapshot->slowest[i];
        size_t peer_len = address_format(&slow->peer, peer);

        put_open(json, NULL, "{");
        put_moment(json, "time", slow->wall_ns);
        put_text(json, "method",
                 bytes_of(snapshot->options.method_names[slow->method]));
        put_text(json, "target",
                 (struct bytes){slow->target, slow->target_len});
        put_number(json, "status", slow->status);
        put_number(json, "bytes", slow->body_bytes);
        put_us(json, "total", slow->total_ns);
        put_us(json, "wait", slow->wait_ns);
        put_text(json, "remote", (struct bytes){peer, peer_len});
        put_close(json, "}");
    }
    put_close(json, "]");
}

static void put_upstreams(struct json *json,
                          const struct stats_snapshot *snapshot)
{
    const struct stats_upstreams *upstreams = snapshot->upstreams;

    put_open(json, "upstreams", "[");
    for (size_t i = 0; upstreams && i < upstreams->count; i++) {
        struct stats_upstream row;

        upstreams->read(upstreams->context, i, snapshot->mono_ms, &row);
        put_open(json, NULL, "{");
        put_text(json, "proxy", bytes_of(row.proxy));
        put_text(json, "server", bytes_of(row.server));
        put_text(json, "state", bytes_of(stats_upstream_state_name(row.state)));
        put_number(json, "active", row.active);
        put_number(json, "idle", row.idle);
        put_number(json, "requests", row.requests);
        put_number(json, "failures", row.failures);
        put_number(json, "retries", row.retries);
        put_number(json, "connects", row.connects);
        put_number(json, "reuses", row.reuses);
        put_number(json, "bytes_in", row.bytes_in);
        put_number(json, "bytes_out", row.bytes_out);
        put_close(json, "}");
    }
    put_close(json, "]");
}

/* All up to the history. */
static void put_present(struct json *json,
                        const struct stats_snapshot *snapshot)
{
    put_open(json, NULL, "{");
    put_text(json, "server", BYTES("sprintd"));
    put_text(json, "version", bytes_of(snapshot->options.version));
    begin(json, "uptime_s");
    decimal_put(json->out, snapshot->uptime_ms, MS_PLACES);
    put_moment(json, "time", snapshot->wall_ns);
    put_number(json, "workers", snapshot->options.worker_count);
    put_text(json, "schedule", bytes_of(snapshot->options.schedule));
    put_bool(json, "draining", snapshot->is_draining);
    put_requests(json, snapshot);
    put_connections(json, snapshot);
    put_cache(json, snapshot);
    put_queue(json, snapshot);
    put_link(json, snapshot);
    put_stores(json, snapshot);
    put_upstreams(json, snapshot);
    put_times(json, snapshot);
    put_profile(json, snapshot);
}

void status_json_put(struct buf *out, const struct stats_snapshot *snapshot,
                     struct history *history)
{
    struct history_point points[HISTORY_POINTS_MAX]; /* 24 KB */
    size_t count = history_read(history, points, HISTORY_POINTS_MAX);
    struct json json = {.out = out};

    put_present(&json, snapshot);
    put_open(&json, "history", "{");
    put_number(&json, "interval_s", HISTORY_INTERVAL_S);
    put_open(&json, "points", "[");
    for (size_t i = 0; i < count; i++)
        put_point(&json, NULL, &points[i]);
    put_close(&json, "]");
    put_close(&json, "}");
    put_slowest(&json, snapshot);
    put_close(&json, "}");
}

void status_json_put_tick(struct buf *out,
                          const struct stats_snapshot *snapshot,
                          struct history *history)
{
    struct history_point point;
    struct json json = {.out = out};

    put_present(&json, snapshot);
    if (history_read(history, &point, 1) == 1) {
        put_point(&json, "point", &point);
    } else {
        begin(&json, "point");
        buf_put_literal(out, "null");
    }
    put_slowest(&json, snapshot);
    put_close(&json, "}");
}
