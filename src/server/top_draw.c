#include "server/top_draw.h"

#include <math.h>

#include "server/figure.h"
#include "server/screen.h"
#include "server/top_trend.h"

enum {
    CELL_COLUMNS = 10,
    TIME_COLUMNS = 9, /* seven of them fit a window of 80 */
    LOOSE_ROWS = 40   /* windows so high have empty lines between parts */
};

static double number_at(const struct json_value *object, const char *name)
{
    return json_number(json_find(object, name), NAN);
}

static void put_name(struct screen *screen, const struct json_value *member)
{
    screen_put_foreign(screen, member->name);
}

/* The text of a member of object. */
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
                     struct figure figure)
{
    screen_put_fact(screen, SCREEN_DIM, bytes_of(name), figure.text);
}

/* A line of soft heads over cells. heads ends in NULL. */
static void put_heads(struct screen *screen, const char *first,
                      const char *const *heads, unsigned columns)
{
    screen_set_style(screen, SCREEN_DIM);
    screen_put(screen, first);
    screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
    for (; *heads; heads++)
        screen_put_right(screen, *heads, columns);
    screen_end_line(screen);
}

static void put_cell(struct screen *screen, struct figure figure)
{
    screen_put_right(screen, figure.text, CELL_COLUMNS);
}

/* --- Head ------------------------------------------------------------------ */

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
    put_fact(screen, "up", figure_duration(number_at(document, "uptime_s")));
    put_fact(screen, "workers", figure_count(number_at(document, "workers")));
    screen_put(screen, "  ");
    put_text(screen, document, "schedule");
    put_fact(screen, "requests",
             figure_count(number_at(json_find(document, "requests"), "total")));
    put_fact(screen, "out",
             figure_bytes(number_at(json_find(document, "bytes"), "out")));
    screen_end_line(screen);
}

/* --- Tables ---------------------------------------------------------------- */

/* Of what has not happened yet, nothing is known. */
static struct figure time_of(const struct json_value *times, const char *name)
{
    return figure_micros(number_at(times, "count") > 0 ? number_at(times, name)
                                                       : NAN);
}

static void draw_times(struct screen *screen, const struct json_value *document)
{
    static const char *const heads[] = {"min", "mean",  "median", "p90",
                                        "p99", "p99.9", "max",    NULL};
    static const char *const names[] = {"min", "mean", "p50", "p90",
                                        "p99", "p999", "max", NULL};
    const struct json_value *list = json_find(document, "times");
    const struct json_value *times = NULL;

    put_heads(screen, "Time", heads, TIME_COLUMNS);
    while ((times = json_next(list, times))) {
        put_name(screen, times);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        for (size_t i = 0; names[i]; i++)
            screen_put_right(screen, time_of(times, names[i]).text,
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

    put_heads(screen, "Size up to", heads, CELL_COLUMNS);
    while ((size = json_next(list, size))) {
        const struct json_value *wait = json_find(size, "wait");
        const struct json_value *total = json_find(size, "total");
        double to = number_at(size, "to_bytes");

        screen_put(screen, isnan(to) ? "> " : "");
        screen_put(screen, figure_bytes(isnan(to) ? before : to).text);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        put_cell(screen, figure_brief(number_at(size, "count")));
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
    static const char *const heads[] = {"queued", "most",     "bytes",
                                        "open",   "requests", NULL};
    const struct json_value *queue = json_find(document, "queue");
    const struct json_value *list = json_find(queue, "by_worker");
    const struct json_value *worker = NULL;

    put_heads(screen, "Worker", heads, CELL_COLUMNS);
    while ((worker = json_next(list, worker))) {
        screen_put(screen, figure_count(number_at(worker, "worker")).text);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        put_cell(screen, figure_count(number_at(worker, "depth")));
        put_cell(screen, figure_count(number_at(worker, "depth_max")));
        put_cell(screen, figure_bytes(number_at(worker, "bytes")));
        put_cell(screen, figure_count(number_at(worker, "open")));
        put_cell(screen, figure_brief(number_at(worker, "requests")));
        screen_end_line(screen);
    }
}

static void draw_slowest(struct screen *screen,
                         const struct json_value *document)
{
    static const char *const heads[] = {"size", "wait", "status", NULL};
    const struct json_value *list = json_find(document, "slowest");
    const struct json_value *one = NULL;

    put_heads(screen, "Slowest", heads, CELL_COLUMNS);
    while ((one = json_next(list, one))) {
        screen_put(screen, figure_micros(number_at(one, "total")).text);
        screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
        put_cell(screen, figure_bytes(number_at(one, "bytes")));
        put_cell(screen, figure_micros(number_at(one, "wait")));
        put_cell(screen, figure_count(number_at(one, "status")));
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

/* --- Totals ---------------------------------------------------------------- */

/* All members of an object in one line: their names, their counts. */
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
                        figure_count(json_number(count, NAN)).text);
    }
}

static void draw_answers(struct screen *screen,
                         const struct json_value *document)
{
    const struct json_value *requests = json_find(document, "requests");
    const struct json_value *connections = json_find(document, "connections");

    screen_put_label(screen, "Methods");
    put_counts(screen, json_find(requests, "by_method"));
    screen_end_line(screen);
    screen_put_label(screen, "Statuses");
    put_counts(screen, json_find(requests, "by_status"));
    screen_end_line(screen);
    screen_put_label(screen, "Closed by");
    put_counts(screen, json_find(connections, "closed"));
    put_fact(screen, "accepted",
             figure_count(number_at(connections, "accepted")));
    put_fact(screen, "refused",
             figure_count(number_at(connections, "refused")));
    screen_end_line(screen);
}

static void draw_means(struct screen *screen, const struct json_value *document)
{
    const struct json_value *queue = json_find(document, "queue");
    const struct json_value *cache = json_find(document, "cache");
    const struct json_value *link = json_find(document, "link");
    const struct json_value *log = json_find(document, "log");

    screen_put_label(screen, "Queue");
    put_fact(screen, "holds", figure_bytes(number_at(queue, "bytes")));
    put_fact(screen, "most", figure_count(number_at(queue, "depth_max")));
    put_fact(screen, "overtakes", figure_count(number_at(queue, "overtakes")));
    screen_end_line(screen);

    screen_put_label(screen, "Cache");
    screen_put(screen, "  ");
    put_text(screen, cache, "policy");
    put_fact(screen, "holds", figure_bytes(number_at(cache, "bytes")));
    put_fact(screen, "in", figure_count(number_at(cache, "entries")));
    put_fact(screen, "hits", figure_count(number_at(cache, "hits")));
    put_fact(screen, "misses", figure_count(number_at(cache, "misses")));
    put_fact(screen, "evictions", figure_count(number_at(cache, "evictions")));
    screen_end_line(screen);

    screen_put_label(screen, "Link");
    screen_put(screen, "  ");
    put_text(screen, link, "mode");
    if (json_is_true(json_find(link, "engaged")))
        screen_put(screen, ", holds back");
    put_fact(screen, "rate",
             figure_bits(8 * number_at(link, "rate_bytes_per_second")));
    put_fact(screen, "delay", figure_micros(number_at(link, "delay_us")));
    put_fact(screen, "budget", figure_bytes(number_at(link, "limit_bytes")));
    put_fact(screen, "held", figure_count(number_at(link, "held")));
    screen_end_line(screen);

    screen_put_label(screen, "Log");
    put_fact(screen, "lines", figure_count(number_at(log, "lines")));
    put_fact(screen, "dropped", figure_count(number_at(log, "dropped")));
    put_fact(screen, "errors", figure_count(number_at(log, "errors")));
    screen_end_line(screen);
}

/* Nothing unless the server samples. */
static void draw_profile(struct screen *screen,
                         const struct json_value *document)
{
    const struct json_value *profile = json_find(document, "profile");
    const struct json_value *list = json_find(profile, "phases");
    const struct json_value *phase = NULL;

    if (!json_is_true(json_find(profile, "enabled")))
        return;
    screen_put_label(screen, "CPU");
    put_fact(screen, "idle", figure_percent(number_at(profile, "idle")));
    while ((phase = json_next(list, phase)))
        screen_put_fact(screen, SCREEN_DIM, phase->name,
                        figure_percent(json_number(phase, NAN)).text);
    screen_end_line(screen);
}

static void draw_totals(struct screen *screen,
                        const struct json_value *document)
{
    draw_answers(screen, document);
    draw_means(screen, document);
    draw_profile(screen, document);
}

/* --- All of it ------------------------------------------------------------- */

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
