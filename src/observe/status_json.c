#include "observe/status_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "observe/decimal.h"
#include "observe/stats_objects.h"

enum { US_PLACES = 3, MS_PLACES = 3 };

/* --- JSON, member by member ----------------------------------------------- */

struct json_writer {
    struct buf *out;
    bool needs_comma;
};

/* Puts a comma, if needed, and the value's name. `name` is NULL in an array. */
static void begin(struct json_writer *json, const char *name)
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

static void put_open(struct json_writer *json, const char *name,
                     const char *bracket)
{
    begin(json, name);
    buf_put(json->out, bytes_of(bracket));
    json->needs_comma = false;
}

static void put_close(struct json_writer *json, const char *bracket)
{
    buf_put(json->out, bytes_of(bracket));
    json->needs_comma = true;
}

static void put_number(struct json_writer *json, const char *name,
                       uint64_t number)
{
    begin(json, name);
    buf_put_number(json->out, number);
}

/* Puts null, for a value that is unlimited or does not exist yet. */
static void put_null(struct json_writer *json, const char *name)
{
    begin(json, name);
    buf_put_literal(json->out, "null");
}

static void put_us(struct json_writer *json, const char *name, uint64_t ns)
{
    begin(json, name);
    decimal_put(json->out, ns, US_PLACES);
}

static void put_moment(struct json_writer *json, const char *name,
                       int64_t wall_ns)
{
    begin(json, name);
    decimal_put(json->out, (uint64_t)wall_ns / NS_PER_MS, MS_PLACES);
}

static void put_share(struct json_writer *json, const char *name, double share)
{
    begin(json, name);
    decimal_put_share(json->out, share);
}

static void put_bool(struct json_writer *json, const char *name, bool value)
{
    begin(json, name);
    buf_put(json->out, bytes_of(value ? "true" : "false"));
}

static void put_text(struct json_writer *json, const char *name,
                     struct bytes text)
{
    begin(json, name);
    buf_put_literal(json->out, "\"");
    buf_put_json(json->out, text);
    buf_put_literal(json->out, "\"");
}

/* --- What the table has -------------------------------------------------- */

static void put_distribution(struct json_writer *json, const char *name,
                             const struct distribution *distribution)
{
    put_open(json, name, "{");
    put_number(json, "count", distribution->count);
    for (unsigned i = 0; i < STATS_QUANTILE_COUNT; i++)
        put_us(json, stats_quantiles[i].name,
               stats_quantile_of(&stats_quantiles[i], distribution));
    put_close(json, "}");
}

static void put_vector(struct json_writer *json, const struct stats_row *row,
                       const struct stats_snapshot *snapshot)
{
    struct stats_item item = {0};

    put_open(json, row->name, "{");
    while (stats_item_next(row, snapshot, &item))
        if (item.value > 0 || !row->is_sparse)
            put_number(json, item.name, item.value);
    put_close(json, "}");
}

/* Puts a value. A value that is unknown (0 or NAN, depending on the unit)
 * becomes null. */
static void put_value(struct json_writer *json, const char *name,
                      const struct stats_row *row, const void *base)
{
    const void *at = stats_row_at(row, base);

    switch (row->unit) {
    case STATS_UNIT_NUMBER:
    case STATS_UNIT_BYTES:
    case STATS_UNIT_BYTES_A_SECOND:
    case STATS_UNIT_US:
        put_number(json, name, stats_row_number(row, base));
        break;
    case STATS_UNIT_NS:
        if (stats_row_number(row, base) == 0)
            put_null(json, name);
        else
            put_us(json, name, stats_row_number(row, base));
        break;
    case STATS_UNIT_MS:
        begin(json, name);
        decimal_put(json->out, stats_row_number(row, base), MS_PLACES);
        break;
    case STATS_UNIT_MOMENT:
        put_moment(json, name, *(const int64_t *)at);
        break;
    case STATS_UNIT_BOOL:
        put_bool(json, name, stats_row_number(row, base));
        break;
    case STATS_UNIT_TEXT:
        put_text(json, name, bytes_of(stats_row_text(row, base)));
        break;
    case STATS_UNIT_SHARE:
    case STATS_UNIT_RATE:
        if (isnan(*(const double *)at))
            put_null(json, name);
        else
            put_share(json, name, *(const double *)at);
        break;
    }
}

/* Puts a member for each row of the part, unless the object lacks the row's
 * number. */
static void put_rows(struct json_writer *json, enum stats_part part,
                     const struct stats_object *object)
{
    const struct stats_row *row = NULL;

    while ((row = stats_row_next(part, row))) {
        if (!row->name || !stats_object_has(object, row))
            continue;
        if (stats_row_is_left_out(row, object->base))
            continue;
        if (row->kind == STATS_KIND_VECTOR)
            put_vector(json, row, object->base);
        else if (row->kind == STATS_KIND_DISTRIBUTION)
            put_distribution(json, row->name, stats_row_at(row, object->base));
        else
            put_value(json, row->name, row, object->base);
    }
}

/* Puts an object with all members of one part. */
static void put_part(struct json_writer *json, const char *name,
                     enum stats_part part, const struct stats_object *all)
{
    put_open(json, name, "{");
    put_rows(json, part, all);
    put_close(json, "}");
}

/* Puts the members that identify an object among the objects of its part. */
static void put_identity(struct json_writer *json, enum stats_part part,
                         size_t number, const struct stats_object *object)
{
    const struct stats_upstream *upstream = &object->upstream;
    const struct stats_by_size *size = object->base;
    const struct stats_cache_if *cache_if = object->base;

    switch ((int)part) {
    case STATS_PART_CACHE_IF:
        put_text(json, "policy", bytes_of(cache_if->policy));
        put_text(json, "size", bytes_of(cache_if->size));
        break;
    case STATS_PART_SIZE:
        if (stats_size_bound((unsigned)number) < UINT64_MAX)
            put_number(json, "to_bytes", stats_size_bound((unsigned)number));
        else
            put_null(json, "to_bytes");
        put_number(json, "count", size->total.count);
        break;
    case STATS_PART_WORKER:
        put_number(json, "worker", number);
        break;
    case STATS_PART_STORE:
        put_text(json, "prefix", bytes_of(object->store->prefix));
        put_text(json, "engine", bytes_of(object->store->engine));
        break;
    case STATS_PART_CERTIFICATE:
        put_text(json, "site", bytes_of(object->certificate.site));
        break;
    case STATS_PART_UPSTREAM:
        put_text(json, "proxy", bytes_of(upstream->proxy));
        put_text(json, "server", bytes_of(upstream->server));
        put_text(json, "state",
                 bytes_of(stats_upstream_state_name(upstream->state)));
        break;
    }
}

static void put_list(struct json_writer *json, const char *name,
                     enum stats_part part,
                     const struct stats_snapshot *snapshot)
{
    size_t count = stats_object_count(snapshot, part);
    struct stats_object object;

    put_open(json, name, "[");
    for (size_t i = 0; i < count; i++) {
        stats_object_get(snapshot, part, i, &object);
        put_open(json, NULL, "{");
        put_identity(json, part, i, &object);
        put_rows(json, part, &object);
        put_close(json, "}");
    }
    put_close(json, "]");
}

/* --- Its parts ------------------------------------------------------------ */

static void put_profile(struct json_writer *json,
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

static void put_point(struct json_writer *json, const char *name,
                      const struct history_point *point)
{
    const struct stats_row *row = NULL;

    put_open(json, name, "[");
    while ((row = stats_row_next(STATS_PART_POINT, row)))
        put_value(json, NULL, row, point);
    put_close(json, "]");
}

static void put_slowest(struct json_writer *json,
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

/* Puts the members that come before "history" in the JSON. */
static void put_present(struct json_writer *json,
                        const struct stats_snapshot *snapshot)
{
    const struct stats_object all = {.base = snapshot};

    put_open(json, NULL, "{");
    put_text(json, "server", BYTES("sprintd"));
    put_rows(json, STATS_PART_SERVER, &all);
    put_open(json, "requests", "{");
    put_rows(json, STATS_PART_REQUESTS, &all);
    put_rows(json, STATS_PART_METHODS, &all);
    put_rows(json, STATS_PART_STATUSES, &all);
    put_close(json, "}");
    put_part(json, "bytes", STATS_PART_BYTES, &all);
    put_part(json, "connections", STATS_PART_CONNECTIONS, &all);
    if (stats_http2_is_used(&snapshot->http2))
        put_part(json, "http2", STATS_PART_HTTP2, &all);
    if (stats_tls_is_used(&snapshot->tls))
        put_part(json, "tls", STATS_PART_TLS, &all);
    if (stats_object_count(snapshot, STATS_PART_CERTIFICATE) > 0)
        put_list(json, "certificates", STATS_PART_CERTIFICATE, snapshot);
    put_part(json, "cache", STATS_PART_CACHE, &all);
    if (snapshot->cache_told.requests > 0)
        put_list(json, "cache_what_if", STATS_PART_CACHE_IF, snapshot);
    put_part(json, "compress", STATS_PART_COMPRESS, &all);
    if (stats_kept_is_used(&snapshot->kept))
        put_part(json, "proxy_cache", STATS_PART_KEPT, &all);
    put_open(json, "queue", "{");
    put_rows(json, STATS_PART_QUEUE, &all);
    put_list(json, "by_worker", STATS_PART_WORKER, snapshot);
    put_close(json, "}");
    put_part(json, "link", STATS_PART_LINK, &all);
    if (snapshot->what_if[STATS_WHAT_IF_DID].count > 0)
        put_part(json, "what_if", STATS_PART_WHAT_IF, &all);
    put_part(json, "log", STATS_PART_LOG, &all);
    put_list(json, "stores", STATS_PART_STORE, snapshot);
    put_list(json, "upstreams", STATS_PART_UPSTREAM, snapshot);
    put_part(json, "times", STATS_PART_TIMES, &all);
    put_list(json, "sizes", STATS_PART_SIZE, snapshot);
    put_profile(json, snapshot);
}

void status_json_put(struct buf *out, const struct stats_snapshot *snapshot,
                     struct history *history)
{
    struct history_point points[HISTORY_POINTS_MAX]; /* takes 24 KB */
    size_t count = history_read(history, points, HISTORY_POINTS_MAX);
    struct json_writer json = {.out = out};

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
    struct json_writer json = {.out = out};

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
