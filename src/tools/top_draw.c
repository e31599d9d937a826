#include "tools/top_draw.h"

#include <math.h>

#include "observe/stats_objects.h"
#include "tools/human_number.h"
#include "tools/screen.h"
#include "tools/top_trend.h"

enum {
    CELL_COLUMNS = 10,
    TIME_COLUMNS = 9, /* width of a time; seven times fit into 80 columns */
    LOOSE_ROWS = 40   /* from this height on, empty lines divide parts */
};

static double number_at(const struct json_value *object, const char *name)
{
    return json_number(json_find(object, name), NAN);
}

static void put_name(struct screen *screen, const struct json_value *member)
{
    screen_put_foreign(screen, member->name);
}

/* Puts the text of a member of an object. */
static void put_text(struct screen *screen, const struct json_value *object,
                     const char *name)
{
    char storage[SCREEN_WIDTH_MAX];
    const struct json_value *member = json_find(object, name);
    struct buf text;

    if (!member || member->kind != JSON_STRING)
        return;
    buf_init(&text, storage, sizeof(storage),
             sizeof(storage) + member->text.len);
    json_put_text(&text, member);
    screen_put_foreign(screen, buf_bytes(&text));
    buf_fini(&text);
}

static void put_fact(struct screen *screen, const char *name,
                     struct human_number number)
{
    screen_put_fact(screen, SCREEN_DIM, bytes_of(name), number.text);
}

/* Begins a line of dimmed column titles with the first title. */
static void begin_heads(struct screen *screen, const char *first)
{
    screen_set_style(screen, SCREEN_DIM);
    screen_put(screen, first);
    screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
}

/* Puts a line of column titles: `first`, and `heads`, which ends with NULL. */
static void put_heads(struct screen *screen, const char *first,
                      const char *const *heads)
{
    begin_heads(screen, first);
    for (; *heads; heads++)
        screen_put_right(screen, *heads, CELL_COLUMNS);
    screen_end_line(screen);
}

/* Finds the row that has the given position in its part's line. Returns NULL if
 * no row has this position. */
static const struct stats_row *find_row(enum stats_part part, unsigned position)
{
    const struct stats_row *row = NULL;

    while ((row = stats_row_next(part, row)) && row->top.position != position)
        ;
    return row;
}

static void put_cell(struct screen *screen, struct human_number number)
{
    screen_put_right(screen, number.text, CELL_COLUMNS);
}

/* --- Head ---------------------------------------------------------------- */

static void draw_head(struct screen *screen, const struct json_value *document,
                      const char *trouble)
{
    bool is_draining = json_is_true(json_find(document, "draining"));

    screen_set_style(screen, SCREEN_BOLD);
    screen_put(screen, "sprintd ");
    screen_set_style(screen, SCREEN_PLAIN);
    put_text(screen, document, "version");
    screen_put(screen, "  ");
    if (trouble) {
        screen_set_style(screen, SCREEN_BAD);
        screen_put_foreign(screen, bytes_of(trouble));
        screen_end_line(screen);
        return;
    }
    screen_set_style(screen, is_draining ? SCREEN_WARN : SCREEN_GOOD);
    screen_put(screen, is_draining ? "draining" : "live");
    screen_set_style(screen, SCREEN_PLAIN);
    put_fact(screen, "up",
             human_number_duration(number_at(document, "uptime_s")));
    put_fact(screen, "workers",
             human_number_count(number_at(document, "workers")));
    screen_put(screen, "  ");
    put_text(screen, document, "schedule");
    put_fact(screen, "requests",
             human_number_count(number_at(json_find(document, "requests"),
                                          "total")));
    put_fact(screen, "out",
             human_number_bytes(number_at(json_find(document, "bytes"),
                                          "out")));
    screen_end_line(screen);
}

/* --- Tables -------------------------------------------------------------- */

/* Returns the time called `name`, which is unknown if nothing was counted. */
static struct human_number time_of(const struct json_value *times,
                                   const char *name)
{
    return human_number_micros(number_at(times, "count") > 0
                                   ? number_at(times, name)
                                   : NAN);
}

static void draw_times(struct screen *screen, const struct json_value *document)
{
    const struct json_value *list = json_find(document, "times");
    const struct json_value *times = NULL;

    begin_heads(screen, "Time");
    for (size_t i = 0; i < STATS_QUANTILE_COUNT; i++)
        screen_put_right(screen, stats_quantiles[i].title, TIME_COLUMNS);
    screen_end_line(screen);
    while ((times = json_next(list, times))) {
        put_name(screen, times);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        for (size_t i = 0; i < STATS_QUANTILE_COUNT; i++)
            screen_put_right(screen,
                             time_of(times, stats_quantiles[i].name).text,
                             TIME_COLUMNS);
        screen_end_line(screen);
    }
}

static void draw_sizes(struct screen *screen, const struct json_value *document)
{
    static const char *const heads[] = {"count",     "wait p50", "p99",
                                        "total p50", "p99",      NULL};
    const struct json_value *list = json_find(document, "sizes");
    const struct json_value *size = NULL;
    double before = 0;

    put_heads(screen, "Size up to", heads);
    while ((size = json_next(list, size))) {
        const struct json_value *wait = json_find(size, "wait");
        const struct json_value *total = json_find(size, "total");
        double to = number_at(size, "to_bytes");

        screen_put(screen, isnan(to) ? "> " : "");
        screen_put(screen, human_number_bytes(isnan(to) ? before : to).text);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        put_cell(screen, human_number_brief(number_at(size, "count")));
        put_cell(screen, time_of(wait, "p50"));
        put_cell(screen, time_of(wait, "p99"));
        put_cell(screen, time_of(total, "p50"));
        put_cell(screen, time_of(total, "p99"));
        screen_end_line(screen);
        before = to;
    }
}

static void draw_workers(struct screen *screen,
                         const struct json_value *document)
{
    const struct json_value *queue = json_find(document, "queue");
    const struct json_value *list = json_find(queue, "by_worker");
    const struct json_value *worker = NULL;
    const struct stats_row *row;

    begin_heads(screen, "Worker");
    for (unsigned i = 1; (row = find_row(STATS_PART_WORKER, i)); i++)
        screen_put_right(screen, row->top.text, CELL_COLUMNS);
    screen_end_line(screen);
    while ((worker = json_next(list, worker))) {
        screen_put(screen,
                   human_number_count(number_at(worker, "worker")).text);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        for (unsigned i = 1; (row = find_row(STATS_PART_WORKER, i)); i++) {
            double value = number_at(worker, row->name);

            put_cell(screen, row->kind == STATS_KIND_COUNTER
                                 ? human_number_brief(value)
                                 : human_number_of(row->unit, value));
        }
        screen_end_line(screen);
    }
}

static void draw_slowest(struct screen *screen,
                         const struct json_value *document)
{
    static const char *const heads[] = {"size", "wait", "status", NULL};
    const struct json_value *list = json_find(document, "slowest");
    const struct json_value *one = NULL;

    put_heads(screen, "Slowest", heads);
    while ((one = json_next(list, one))) {
        screen_put(screen, human_number_micros(number_at(one, "total")).text);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        put_cell(screen, human_number_bytes(number_at(one, "bytes")));
        put_cell(screen, human_number_micros(number_at(one, "wait")));
        put_cell(screen, human_number_count(number_at(one, "status")));
        screen_put(screen, "  ");
        put_text(screen, one, "method");
        screen_put(screen, " ");
        put_text(screen, one, "target");
        screen_put(screen, "  ");
        screen_set_style(screen, SCREEN_DIM);
        put_text(screen, one, "remote");
        screen_end_line(screen);
    }
}

/* --- Totals -------------------------------------------------------------- */

/* Puts the names and the counts of all members of an object into one line. */
static void put_counts(struct screen *screen, const struct json_value *counts)
{
    const struct json_value *count = NULL;

    while ((count = json_next(counts, count))) {
        char first = count->name.len > 0 ? *count->name.data : ' ';

        screen_put_fact(screen,
                        first == '5'   ? SCREEN_BAD
                        : first == '4' ? SCREEN_WARN
                                       : SCREEN_DIM,
                        count->name,
                        human_number_count(json_number(count, NAN)).text);
    }
}

static void put_row(struct screen *screen, const struct stats_row *row,
                    const struct json_value *object)
{
    if (row->kind == STATS_KIND_VECTOR) {
        const struct json_value *counts = json_find(object, row->name);

        if (*row->top.text != '\0' && json_next(counts, NULL)) {
            screen_put(screen, "  ");
            screen_put(screen, row->top.text);
        }
        put_counts(screen, counts);
    } else if (row->unit == STATS_UNIT_TEXT) {
        screen_put(screen, "  ");
        put_text(screen, object, row->name);
    } else if (row->unit != STATS_UNIT_BOOL) {
        put_fact(screen, row->top.text,
                 human_number_of(row->unit, number_at(object, row->name)));
    } else if (json_is_true(json_find(object, row->name))) {
        screen_put(screen, row->top.text);
    }
}

/* Draws how long each certificate is still valid. Draws nothing if there are no
 * certificates. */
static void draw_certificates(struct screen *screen,
                              const struct json_value *document)
{
    enum { WARN_S = 14 * 24 * 3600 };
    const struct json_value *list = json_find(document, "certificates");
    const struct json_value *one = json_next(list, NULL);

    if (!one)
        return;
    screen_put_label(screen, "Expiry");
    for (; one; one = json_next(list, one)) {
        double left_s = number_at(one, "expiry_s");

        screen_put(screen, "  ");
        screen_set_style(screen, left_s > 0 ? SCREEN_DIM : SCREEN_BAD);
        put_text(screen, one, "site");
        screen_set_style(screen, left_s > WARN_S ? SCREEN_PLAIN : SCREEN_WARN);
        screen_put(screen, " ");
        screen_put(screen, human_number_duration(left_s).text);
        if (number_at(one, "failures") > 0) {
            screen_set_style(screen, SCREEN_BAD);
            put_fact(screen, "failed",
                     human_number_count(number_at(one, "failures")));
        }
        screen_set_style(screen, SCREEN_PLAIN);
    }
    screen_end_line(screen);
}

/* Draws the shares of CPU time, if the server samples them. */
static void draw_profile(struct screen *screen,
                         const struct json_value *document)
{
    const struct json_value *profile = json_find(document, "profile");
    const struct json_value *list = json_find(profile, "phases");
    const struct json_value *phase = NULL;

    if (!json_is_true(json_find(profile, "enabled")))
        return;
    screen_put_label(screen, "CPU");
    put_fact(screen, "idle", human_number_percent(number_at(profile, "idle")));
    while ((phase = json_next(list, phase)))
        screen_put_fact(screen, SCREEN_DIM, phase->name,
                        human_number_percent(json_number(phase, NAN)).text);
    screen_end_line(screen);
}

/* Draws the hit ratios that caches of other sizes would have under the present
 * policy. Draws nothing if the ratios are unknown. */
static void draw_cache_if(struct screen *screen,
                          const struct json_value *document)
{
    const struct json_value *list = json_find(document, "cache_what_if");
    const struct json_value *policy = json_find(json_find(document, "cache"),
                                                "policy");
    const struct json_value *one = NULL;

    if (!json_next(list, NULL) || !policy)
        return;
    screen_put_label(screen, "Cache if");
    while ((one = json_next(list, one))) {
        const struct json_value *of = json_find(one, "policy");

        if (!of || !bytes_eq(of->text, policy->text))
            continue;
        screen_put(screen, "  ");
        put_text(screen, one, "size");
        screen_put(screen, " x ");
        screen_put(screen,
                   human_number_percent(number_at(one, "hit_ratio")).text);
    }
    screen_end_line(screen);
}

static void draw_totals(struct screen *screen,
                        const struct json_value *document)
{
    static const struct {
        const char *label;
        const char *name; /* member of the object */
        enum stats_part part;
    } lines[] = {{"Methods", "requests", STATS_PART_METHODS},
                 {"Statuses", "requests", STATS_PART_STATUSES},
                 {"Closed by", "connections", STATS_PART_CONNECTIONS},
                 {"TLS", "tls", STATS_PART_TLS},
                 {"Queue", "queue", STATS_PART_QUEUE},
                 {"Cache", "cache", STATS_PART_CACHE},
                 {"Proxied", "proxy_cache", STATS_PART_KEPT},
                 {"Compress", "compress", STATS_PART_COMPRESS},
                 {"Link", "link", STATS_PART_LINK},
                 {"What if", "what_if", STATS_PART_WHAT_IF},
                 {"Log", "log", STATS_PART_LOG}};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        const struct json_value *object = json_find(document, lines[i].name);
        const struct stats_row *row;

        if (!object && (lines[i].part == STATS_PART_TLS ||
                        lines[i].part == STATS_PART_KEPT ||
                        lines[i].part == STATS_PART_WHAT_IF))
            continue; /* nothing of this part was counted */
        screen_put_label(screen, lines[i].label);
        for (unsigned k = 1; (row = find_row(lines[i].part, k)); k++)
            put_row(screen, row, object);
        screen_end_line(screen);
    }
    draw_cache_if(screen, document);
    draw_certificates(screen, document);
    draw_profile(screen, document);
}

/* --- All of it ----------------------------------------------------------- */

bool top_is_status(const struct json_value *document)
{
    const struct json_value *server = json_find(document, "server");

    return server && server->kind == JSON_STRING &&
           bytes_eq(server->text, BYTES("sprintd"));
}

void top_draw(struct buf *out, const struct json_value *document,
              const struct top_view *view)
{
    static void (*const parts[])(struct screen *, const struct json_value *) = {
        top_trend_draw, draw_times,   draw_totals,
        draw_sizes,     draw_workers, draw_slowest};
    struct screen screen = {.out = out,
                            .width = view->width < SCREEN_WIDTH_MAX
                                         ? view->width
                                         : SCREEN_WIDTH_MAX,
                            .height = view->height,
                            .has_styles = view->has_styles,
                            .is_utf8 = view->is_utf8};

    draw_head(&screen, document, view->trouble);
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (view->height == 0 || view->height >= LOOSE_ROWS)
            screen_end_line(&screen);
        parts[i](&screen, document);
    }
}
