#include "observe/metrics.h"

#include "observe/decimal.h"

enum { NS_PLACES = 9, US_PLACES = 6, MS_PLACES = 3 };

/* The bounds of histograms. Their texts are as both formats' reference
 * implementations write such numbers (shortest, with a point or exponent), for
 * they are labels: another text is another series. */
static const struct {
    uint64_t ns;
    const char *text;
} bounds[] = {
    {10000, "1e-05"},      {25000, "2.5e-05"},    {50000, "5e-05"},
    {100000, "0.0001"},    {250000, "0.00025"},   {500000, "0.0005"},
    {1000000, "0.001"},    {2500000, "0.0025"},   {5000000, "0.005"},
    {10000000, "0.01"},    {25000000, "0.025"},   {50000000, "0.05"},
    {100000000, "0.1"},    {250000000, "0.25"},   {500000000, "0.5"},
    {1000000000, "1.0"},   {2500000000, "2.5"},   {5000000000, "5.0"},
    {10000000000, "10.0"}, {30000000000, "30.0"}, {60000000000, "60.0"},
};

enum { BOUND_COUNT = sizeof(bounds) / sizeof(*bounds) };

static const char *const size_names[STATS_SIZE_COUNT] = {
    "1KiB", "10KiB", "100KiB", "1MiB", "more"}; /* up to */

enum metric_type {
    METRIC_COUNTER,
    METRIC_GAUGE,
    METRIC_HISTOGRAM,
    METRIC_INFO
};

/* One family is being written at a time. */
struct metrics {
    struct buf *out;
    const struct stats_snapshot *snapshot;
    enum metrics_format format;
    const char *name; /* of the family, without a suffix */
    const char *suffix;
};

/* A label and its value; none when name is NULL. */
struct label {
    const char *name;
    const char *value;
};

static const struct label no_label;

/* --- Lines ---------------------------------------------------------------- */

static void put_text(struct metrics *metrics, const char *text)
{
    buf_put(metrics->out, bytes_of(text));
}

static void put_meta(struct metrics *metrics, const char *keyword,
                     const char *value)
{
    put_text(metrics, "# ");
    put_text(metrics, keyword);
    put_text(metrics, " sprintd_");
    put_text(metrics, metrics->name);
    /* A family is called by its samples' name in the one format, and without
     * its type in the other. */
    if (metrics->format == METRICS_PROMETHEUS)
        put_text(metrics, metrics->suffix);
    put_text(metrics, " ");
    put_text(metrics, value);
    put_text(metrics, "\n");
}

/* unit: what name ends in, or NULL. */
static void begin(struct metrics *metrics, enum metric_type type,
                  const char *name, const char *unit, const char *help)
{
    static const char *const suffixes[] = {[METRIC_COUNTER] = "_total",
                                           [METRIC_GAUGE] = "",
                                           [METRIC_HISTOGRAM] = "",
                                           [METRIC_INFO] = "_info"};
    static const char *const names[] = {[METRIC_COUNTER] = "counter",
                                        [METRIC_GAUGE] = "gauge",
                                        [METRIC_HISTOGRAM] = "histogram",
                                        [METRIC_INFO] = "info"};
    bool is_open = metrics->format == METRICS_OPENMETRICS;

    metrics->name = name;
    metrics->suffix = suffixes[type];
    put_meta(metrics, "TYPE",
             names[type == METRIC_INFO && !is_open ? METRIC_GAUGE : type]);
    if (unit && is_open)
        put_meta(metrics, "UNIT", unit);
    put_meta(metrics, "HELP", help);
}

/* Backslash, quote and newline are what has to be escaped. */
static void put_label(struct metrics *metrics, struct label label,
                      const char *before)
{
    put_text(metrics, before);
    put_text(metrics, label.name);
    put_text(metrics, "=\"");
    for (const char *at = label.value; *at; at++) {
        if (*at == '\\' || *at == '"')
            put_text(metrics, "\\");
        if (*at == '\n')
            put_text(metrics, "\\n");
        else
            buf_put(metrics->out, (struct bytes){at, 1});
    }
    put_text(metrics, "\"");
}

static void put_sample(struct metrics *metrics, const char *suffix,
                       struct label first, struct label second, uint64_t value,
                       unsigned places)
{
    put_text(metrics, "sprintd_");
    put_text(metrics, metrics->name);
    put_text(metrics, suffix);
    if (first.name)
        put_label(metrics, first, "{");
    if (second.name)
        put_label(metrics, second, first.name ? "," : "{");
    if (first.name || second.name)
        put_text(metrics, "}");
    put_text(metrics, " ");
    decimal_put(metrics->out, value, places);
    put_text(metrics, "\n");
}

static void put_labelled(struct metrics *metrics, const char *name,
                         const char *value, uint64_t number)
{
    put_sample(metrics, metrics->suffix, (struct label){name, value}, no_label,
               number, 0);
}

/* A family of one line; the number counts 10^-places. */
static void put_one(struct metrics *metrics, enum metric_type type,
                    const char *name, const char *unit, uint64_t value,
                    unsigned places, const char *help)
{
    begin(metrics, type, name, unit, help);
    put_sample(metrics, metrics->suffix, no_label, no_label, value, places);
}

static void put_counter(struct metrics *metrics, const char *name,
                        uint64_t value, const char *help)
{
    put_one(metrics, METRIC_COUNTER, name, NULL, value, 0, help);
}

static void put_gauge(struct metrics *metrics, const char *name, uint64_t value,
                      const char *help)
{
    put_one(metrics, METRIC_GAUGE, name, NULL, value, 0, help);
}

static void put_bytes(struct metrics *metrics, enum metric_type type,
                      const char *name, uint64_t value, const char *help)
{
    put_one(metrics, type, name, "bytes", value, 0, help);
}

static void put_histogram(struct metrics *metrics, struct label label,
                          const struct distribution *distribution)
{
    for (unsigned i = 0; i < BOUND_COUNT; i++)
        put_sample(metrics, "_bucket", label,
                   (struct label){"le", bounds[i].text},
                   distribution_count_within(distribution, bounds[i].ns), 0);
    put_sample(metrics, "_bucket", label, (struct label){"le", "+Inf"},
               distribution->count, 0);
    put_sample(metrics, "_sum", label, no_label, distribution->sum, NS_PLACES);
    put_sample(metrics, "_count", label, no_label, distribution->count, 0);
}

/* --- Families ------------------------------------------------------------- */

static void put_server(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    begin(metrics, METRIC_INFO, "build", NULL, "What runs.");
    put_sample(metrics, "_info",
               (struct label){"version", snapshot->options.version},
               (struct label){"schedule", snapshot->options.schedule}, 1, 0);
    put_one(metrics, METRIC_GAUGE, "start_time_seconds", "seconds",
            (uint64_t)snapshot->began_wall_ns, NS_PLACES,
            "When the server started, since the epoch.");
    put_one(metrics, METRIC_GAUGE, "uptime_seconds", "seconds",
            snapshot->uptime_ms, MS_PLACES, "For how long it has run.");
    put_gauge(metrics, "draining", snapshot->is_draining,
              "Whether it takes no more connections and is about to stop.");
    put_gauge(metrics, "workers", snapshot->options.worker_count,
              "Threads that answer.");
}

static void put_requests(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    begin(metrics, METRIC_COUNTER, "requests", NULL,
          "Requests that have ended, by method.");
    for (size_t i = 0; i < snapshot->options.method_count; i++)
        put_labelled(metrics, "method", snapshot->options.method_names[i],
                     snapshot->methods[i]);
    begin(metrics, METRIC_COUNTER, "responses", NULL,
          "Responses, by status code.");
    for (unsigned i = 0; i < STATS_STATUS_COUNT; i++) {
        unsigned status = STATS_STATUS_MIN + i;
        char code[] = {(char)('0' + status / 100),
                       (char)('0' + status / 10 % 10),
                       (char)('0' + status % 10), '\0'};

        /* 200 always, so that the family is never without a line. */
        if (snapshot->statuses[i] > 0 || status == 200)
            put_labelled(metrics, "code", code, snapshot->statuses[i]);
    }
    put_counter(metrics, "responses_incomplete", snapshot->incomplete,
                "Responses given up before their last byte; streams of events "
                "have none.");
    put_bytes(metrics, METRIC_COUNTER, "received_bytes", snapshot->bytes_in,
              "Bytes of requests.");
    put_bytes(metrics, METRIC_COUNTER, "sent_bytes", snapshot->bytes_out,
              "Bytes of responses, heads included.");
}

static void put_times(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    begin(metrics, METRIC_HISTOGRAM, "request_wait_seconds", "seconds",
          "From a complete request to the first byte of its response handed "
          "to the kernel, by size of the body.");
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++)
        put_histogram(metrics, (struct label){"size", size_names[i]},
                      &snapshot->sizes[i].wait);
    begin(metrics, METRIC_HISTOGRAM, "request_duration_seconds", "seconds",
          "From the first byte read to the last byte handed to the kernel, by "
          "size of the body.");
    for (unsigned i = 0; i < STATS_SIZE_COUNT; i++)
        put_histogram(metrics, (struct label){"size", size_names[i]},
                      &snapshot->sizes[i].total);
    begin(metrics, METRIC_HISTOGRAM, "response_service_seconds", "seconds",
          "From the first to the last byte handed to the kernel.");
    put_histogram(metrics, no_label, &snapshot->service);
    begin(metrics, METRIC_HISTOGRAM, "response_drain_seconds", "seconds",
          "From the last byte handed over until the kernel had none unsent.");
    put_histogram(metrics, no_label, &snapshot->drain);
}

static void put_connections(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    put_counter(metrics, "connections_accepted", snapshot->accepted,
                "Connections that workers took over.");
    begin(metrics, METRIC_COUNTER, "connections_closed", NULL,
          "Connections that have ended, by reason.");
    for (unsigned i = 0; i < STATS_CLOSE_COUNT; i++)
        put_labelled(metrics, "reason", stats_close_name(i),
                     snapshot->closed[i]);
    begin(metrics, METRIC_COUNTER, "connections_refused", NULL,
          "Connections turned away, by reason.");
    for (unsigned i = 0; i < STATS_REFUSAL_COUNT; i++)
        put_labelled(metrics, "reason", stats_refusal_name(i),
                     snapshot->refused[i]);
}

/* A gauge or counter with a line for each worker: the number at offset. */
static void put_by_worker(struct metrics *metrics, size_t offset)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    for (size_t i = 0; i < snapshot->options.worker_count; i++) {
        const char *worker = (const char *)&snapshot->workers[i];
        char storage[24];
        struct buf number;
        uint64_t value;

        buf_init(&number, storage, sizeof(storage), sizeof(storage));
        buf_put_number(&number, i);
        buf_put(&number, (struct bytes){"", 1}); /* its NUL */
        memcpy(&value, worker + offset, sizeof(value));
        put_labelled(metrics, "worker", storage, value);
    }
}

static void put_workers(struct metrics *metrics)
{
    begin(metrics, METRIC_COUNTER, "worker_requests", NULL,
          "Requests that have ended, by worker.");
    put_by_worker(metrics, offsetof(struct stats_worker, requests));
    begin(metrics, METRIC_GAUGE, "connections_open", NULL,
          "Connections that are open, by worker.");
    put_by_worker(metrics, offsetof(struct stats_worker, open));
    begin(metrics, METRIC_GAUGE, "queue_depth", NULL,
          "Responses that wait for their turn, by worker.");
    put_by_worker(metrics, offsetof(struct stats_worker, queue_depth));
    begin(metrics, METRIC_GAUGE, "queue_depth_max", NULL,
          "The most that ever waited, by worker.");
    put_by_worker(metrics, offsetof(struct stats_worker, queue_depth_max));
    begin(metrics, METRIC_GAUGE, "queue_bytes", "bytes",
          "Bytes that waiting responses have left, by worker.");
    put_by_worker(metrics, offsetof(struct stats_worker, queue_bytes));
    put_counter(metrics, "queue_overtakes", metrics->snapshot->overtakes,
                "Responses sent before one that had waited longer.");
}

static void put_cache(struct metrics *metrics)
{
    const struct stats_cache *cache = &metrics->snapshot->cache;
    const char *policy = metrics->snapshot->options.cache_policy;

    begin(metrics, METRIC_COUNTER, "cache_hits", NULL,
          "Files found in the cache.");
    put_labelled(metrics, "policy", policy, cache->hits);
    begin(metrics, METRIC_COUNTER, "cache_misses", NULL,
          "Files that had to be opened.");
    put_labelled(metrics, "policy", policy, cache->misses);
    begin(metrics, METRIC_COUNTER, "cache_evictions", NULL,
          "Files that had to leave the cache for others.");
    put_labelled(metrics, "policy", policy, cache->evictions);
    begin(metrics, METRIC_GAUGE, "cache_bytes", "bytes",
          "Memory that cached files take.");
    put_labelled(metrics, "policy", policy, cache->bytes);
    begin(metrics, METRIC_GAUGE, "cache_entries", NULL, "Files in the cache.");
    put_labelled(metrics, "policy", policy, cache->entries);
}

static void put_link(struct metrics *metrics)
{
    const struct stats_link *link = &metrics->snapshot->link;

    begin(metrics, METRIC_GAUGE, "link_engaged", NULL,
          "Whether bytes are held back for the link, by its mode.");
    put_labelled(metrics, "mode", metrics->snapshot->options.link_mode,
                 link->is_engaged);
    put_counter(metrics, "link_held", link->held,
                "Times that a response was held back.");
    put_bytes(metrics, METRIC_COUNTER, "link_held_bytes", link->held_bytes,
              "Bytes that were held back.");
    put_counter(metrics, "link_measurements", link->measured,
                "System calls made to measure the queue.");
    put_bytes(metrics, METRIC_GAUGE, "link_limit_bytes", link->limit_bytes,
              "Bytes allowed in the local queue.");
    put_gauge(metrics, "link_rate_bytes_per_second", link->rate,
              "The link's estimated rate.");
    put_one(metrics, METRIC_GAUGE, "link_delay_seconds", "seconds",
            link->delay_us, US_PLACES, "Estimated time in the local queue.");
}

/* A family with a line for each upstream: the number at offset. */
static void put_by_upstream(struct metrics *metrics, size_t offset)
{
    const struct stats_upstreams *upstreams = metrics->snapshot->upstreams;

    for (size_t i = 0; i < upstreams->count; i++) {
        struct stats_upstream row;
        uint64_t value;

        upstreams->read(upstreams->context, i, metrics->snapshot->mono_ms,
                        &row);
        memcpy(&value, (const char *)&row + offset, sizeof(value));
        put_sample(metrics, metrics->suffix, (struct label){"proxy", row.proxy},
                   (struct label){"server", row.server}, value, 0);
    }
}

static void put_upstreams(struct metrics *metrics)
{
    static const struct {
        enum metric_type type;
        const char *name;
        const char *unit;
        size_t offset;
        const char *help;
    } families[] = {
        {METRIC_GAUGE, "upstream_up", NULL, offsetof(struct stats_upstream, up),
         "Whether requests go to a server: not while ejected or down."},
        {METRIC_GAUGE, "upstream_active", NULL,
         offsetof(struct stats_upstream, active),
         "Requests that a server is at."},
        {METRIC_GAUGE, "upstream_connections_idle", NULL,
         offsetof(struct stats_upstream, idle), "Connections kept to it."},
        {METRIC_COUNTER, "upstream_requests", NULL,
         offsetof(struct stats_upstream, requests),
         "Requests that it was chosen for."},
        {METRIC_COUNTER, "upstream_failures", NULL,
         offsetof(struct stats_upstream, failures),
         "Of these, those that it failed."},
        {METRIC_COUNTER, "upstream_retries", NULL,
         offsetof(struct stats_upstream, retries),
         "Of these, those that were tried again."},
        {METRIC_COUNTER, "upstream_connects", NULL,
         offsetof(struct stats_upstream, connects), "New connections to it."},
        {METRIC_COUNTER, "upstream_reuses", NULL,
         offsetof(struct stats_upstream, reuses),
         "Requests over a kept connection."},
        {METRIC_COUNTER, "upstream_received_bytes", "bytes",
         offsetof(struct stats_upstream, bytes_in), "Bytes from it."},
        {METRIC_COUNTER, "upstream_sent_bytes", "bytes",
         offsetof(struct stats_upstream, bytes_out), "Bytes to it."}};

    if (!metrics->snapshot->upstreams ||
        metrics->snapshot->upstreams->count == 0)
        return;
    for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
        begin(metrics, families[i].type, families[i].name, families[i].unit,
              families[i].help);
        put_by_upstream(metrics, families[i].offset);
    }
}

static void put_log(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    put_counter(metrics, "log_lines", snapshot->log_lines,
                "Lines handed to the access log.");
    put_counter(metrics, "log_lines_dropped", snapshot->log_dropped,
                "Lines of these that were lost.");
    put_counter(metrics, "log_errors", snapshot->log_errors,
                "Failed writes of the access log.");
}

static void put_profile(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    put_one(metrics, METRIC_COUNTER, "workers_cpu_seconds", "seconds",
            snapshot->workers_cpu_ns, NS_PLACES,
            "Processor time that workers used.");
    put_one(metrics, METRIC_COUNTER, "workers_wall_seconds", "seconds",
            snapshot->workers_wall_ns, NS_PLACES,
            "Time that went by for all workers together.");
    if (!snapshot->options.is_profiled)
        return;
    begin(metrics, METRIC_COUNTER, "profile_samples", NULL,
          "Samples at equal steps of processor time, by what was going on.");
    for (unsigned i = 0; i < STATS_PHASE_COUNT; i++)
        put_labelled(metrics, "phase", stats_phase_name(i),
                     snapshot->samples[i]);
}

/* Rows of one family, which some store has. */
static void put_store_family(struct metrics *metrics, unsigned first,
                             unsigned end)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    for (size_t i = 0; i < snapshot->options.store_count; i++) {
        const struct stats_store_options *store = &snapshot->options.stores[i];

        for (unsigned k = first; k < end; k++) {
            struct label result = {"result", stats_store_rows[k].result};

            if (stats_store_has(store, k))
                put_sample(metrics, metrics->suffix,
                           (struct label){"store", store->prefix},
                           result.value ? result : no_label,
                           snapshot->stores[i][k], 0);
        }
    }
}

static void put_stores(struct metrics *metrics)
{
    const struct stats_options *options = &metrics->snapshot->options;
    unsigned end;

    for (unsigned at = 0; at < STATS_STORE_NUMBERS; at = end) {
        const struct stats_store_row *row = &stats_store_rows[at];
        bool is_there = false;

        for (end = at + 1;
             end < STATS_STORE_NUMBERS &&
             strcmp(stats_store_rows[end].metric, row->metric) == 0;
             end++)
            ;
        for (size_t i = 0; i < options->store_count; i++)
            is_there |= stats_store_has(&options->stores[i], at);
        if (!is_there)
            continue;
        begin(metrics, row->is_gauge ? METRIC_GAUGE : METRIC_COUNTER,
              row->metric, row->unit, row->help);
        put_store_family(metrics, at, end);
    }
}

const char *metrics_media_type(enum metrics_format format)
{
    return format == METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

void metrics_put(struct buf *out, const struct stats_snapshot *snapshot,
                 enum metrics_format format)
{
    struct metrics metrics = {
        .out = out, .snapshot = snapshot, .format = format};

    put_server(&metrics);
    put_requests(&metrics);
    put_times(&metrics);
    put_connections(&metrics);
    put_workers(&metrics);
    put_cache(&metrics);
    put_link(&metrics);
    put_stores(&metrics);
    put_upstreams(&metrics);
    put_log(&metrics);
    put_profile(&metrics);
    if (format == METRICS_OPENMETRICS)
        put_text(&metrics, "# EOF\n");
}
