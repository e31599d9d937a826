#include "observe/metrics.h"

#include "observe/decimal.h"
#include "observe/stats_objects.h"

/* The bounds of histograms. The texts are those that the reference
 * implementations of both formats write: the shortest form with a point or an
 * exponent. A bound is a label's value, so another text would make another
 * series. */
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

enum metric_type {
    METRIC_COUNTER,
    METRIC_GAUGE,
    METRIC_HISTOGRAM,
    METRIC_INFO
};

/* The family of metrics that is being written. */
struct metrics {
    struct buf *out;
    const struct stats_snapshot *snapshot;
    enum metrics_format format;
    const char *name; /* the family's name without suffix; "" at first */
    const char *suffix;
};

static const struct stats_label no_label;

/* For each unit: the end of a family's name, or NULL for none; and the number
 * of decimal places. */
static const struct {
    const char *name;
    unsigned places;
} units[] = {
    [STATS_UNIT_BYTES] = {"bytes", 0},
    [STATS_UNIT_NS] = {"seconds", 9},
    [STATS_UNIT_US] = {"seconds", 6},
    [STATS_UNIT_MS] = {"seconds", 3},
    [STATS_UNIT_MOMENT] = {"seconds", 9},
    [STATS_UNIT_SHARE] = {"ratio", 4},
    /* The last unit is named for the array's length. Units that are not named
     * have no end and no decimal places, either. */
    [STATS_UNIT_RATE] = {NULL, 0}};

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
    /* The Prometheus format names a family like its samples; OpenMetrics names
     * the family without the suffix. */
    if (metrics->format == METRICS_PROMETHEUS)
        put_text(metrics, metrics->suffix);
    put_text(metrics, " ");
    put_text(metrics, value);
    put_text(metrics, "\n");
}

static void begin(struct metrics *metrics, enum metric_type type,
                  const char *name, enum stats_unit unit, const char *help)
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
    if (units[unit].name && is_open)
        put_meta(metrics, "UNIT", units[unit].name);
    put_meta(metrics, "HELP", help);
}

/* Puts `before` and a label; backslashes, quotes and newlines in the value are
 * escaped. */
static void put_label(struct metrics *metrics, struct stats_label label,
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
                       struct stats_label first, struct stats_label second,
                       uint64_t value, unsigned places)
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

/* --- Families ------------------------------------------------------------- */

static void put_histogram(struct metrics *metrics, struct stats_label label,
                          const struct distribution *distribution)
{
    for (unsigned i = 0; i < BOUND_COUNT; i++)
        put_sample(metrics, "_bucket", label,
                   (struct stats_label){"le", bounds[i].text},
                   distribution_count_within(distribution, bounds[i].ns), 0);
    put_sample(metrics, "_bucket", label, (struct stats_label){"le", "+Inf"},
               distribution->count, 0);
    put_sample(metrics, "_sum", label, no_label, distribution->sum,
               units[STATS_UNIT_NS].places);
    put_sample(metrics, "_count", label, no_label, distribution->count, 0);
}

/* Begins the family of a row, unless an earlier line has begun the family. */
static void enter(struct metrics *metrics, const struct stats_row *row)
{
    static const enum metric_type types[] = {
        [STATS_KIND_COUNTER] = METRIC_COUNTER,
        [STATS_KIND_GAUGE] = METRIC_GAUGE,
        [STATS_KIND_VECTOR] = METRIC_COUNTER,
        [STATS_KIND_DISTRIBUTION] = METRIC_HISTOGRAM};

    if (strcmp(metrics->name, row->metric) != 0)
        begin(metrics,
              row->unit == STATS_UNIT_TEXT ? METRIC_INFO : types[row->kind],
              row->metric, row->unit, row->help);
}

/* Puts the counts of a vector. Statuses that have not occurred are omitted,
 * except 200, so that the family is never empty. */
static void put_vector(struct metrics *metrics, const struct stats_row *row)
{
    struct stats_item item = {0};

    while (stats_item_next(row, metrics->snapshot, &item)) {
        if (item.value == 0 && row->part == STATS_PART_STATUSES &&
            strcmp(item.name, "200") != 0)
            continue;
        enter(metrics, row);
        put_sample(metrics, metrics->suffix,
                   (struct stats_label){row->key, item.name}, no_label,
                   item.value, 0);
    }
}

/* Returns the row's number in units of its last decimal place: 5000 for a share
 * of 0.5, which has four decimal places. */
static uint64_t number_of(const struct stats_row *row,
                          const struct stats_object *object)
{
    enum { SHARE_UNITS = 10000 };

    if (row->unit != STATS_UNIT_SHARE)
        return stats_row_number(row, object->base);
    return (uint64_t)(*(const double *)stats_row_at(row, object->base) *
                          SHARE_UNITS +
                      0.5);
}

/* Puts the lines of a row for an object. */
static void put_row(struct metrics *metrics, const struct stats_row *row,
                    const struct stats_object *object)
{
    struct stats_label second = object->labels[1];

    if (row->kind == STATS_KIND_VECTOR) {
        put_vector(metrics, row);
        return;
    }
    enter(metrics, row);
    if (row->key)
        second = (struct stats_label){"result", row->key};
    if (row->kind == STATS_KIND_DISTRIBUTION)
        put_histogram(metrics,
                      row->key ? (struct stats_label){"policy", row->key}
                               : object->labels[0],
                      stats_row_at(row, object->base));
    else if (row->unit == STATS_UNIT_TEXT)
        put_sample(metrics, metrics->suffix, object->labels[0],
                   (struct stats_label){row->name,
                                        stats_row_text(row, object->base)},
                   1, 0);
    else
        put_sample(metrics, metrics->suffix, object->labels[0], second,
                   number_of(row, object), units[row->unit].places);
}

/* Keeps a family's lines together: the outer loop goes over rows, the inner
 * over objects. */
static void put_part(struct metrics *metrics, enum stats_part part)
{
    size_t count = stats_object_count(metrics->snapshot, part);
    const struct stats_row *row = NULL;
    struct stats_object object;

    while ((row = stats_row_next(part, row))) {
        for (size_t i = 0; row->metric && i < count; i++) {
            stats_object_get(metrics->snapshot, part, i, &object);
            if (stats_object_has(&object, row) &&
                !stats_row_is_left_out(row, object.base))
                put_row(metrics, row, &object);
        }
    }
}

/* Puts the build's metric, which has labels of its own. */
static void put_build(struct metrics *metrics)
{
    const struct stats_options *options = &metrics->snapshot->options;

    begin(metrics, METRIC_INFO, "build", STATS_UNIT_NUMBER, "What runs.");
    put_sample(metrics, "_info",
               (struct stats_label){"version", options->version},
               (struct stats_label){"schedule", options->schedule}, 1, 0);
}

static void put_link_engaged(struct metrics *metrics)
{
    const struct stats_snapshot *snapshot = metrics->snapshot;

    begin(metrics, METRIC_GAUGE, "link_engaged", STATS_UNIT_BOOL,
          "Whether bytes are held back for the link, by its mode.");
    put_sample(metrics, "",
               (struct stats_label){"mode", snapshot->options.link_mode},
               no_label, snapshot->link.is_engaged, 0);
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
        .out = out, .snapshot = snapshot, .format = format, .name = ""};

    put_build(&metrics);
    put_link_engaged(&metrics);
    for (unsigned part = 0; part < STATS_PART_COUNT; part++)
        put_part(&metrics, part);
    if (format == METRICS_OPENMETRICS)
        put_text(&metrics, "# EOF\n");
}
