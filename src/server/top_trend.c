#include "server/top_trend.h"

#include <math.h>

#include "server/figure.h"

enum {
    VALUE_COLUMNS = 11,
    NOTE_COLUMNS = 17, /* "  max 123,456,789" */
    POINTS_MAX = 300   /* the newest of them */
};

/* What stands where in a point of the history. */
enum point_field {
    POINT_TIME,
    POINT_REQUESTS,
    POINT_BYTES,
    POINT_P50,
    POINT_P90,
    POINT_P99,
    POINT_WAIT_P99,
    POINT_HITS,
    POINT_DEPTH,
    POINT_OPEN,
    POINT_FIELDS
};

struct history {
    size_t count;                            /* seen; the last ones are kept */
    double points[POINTS_MAX][POINT_FIELDS]; /* a ring; NAN: not known */
};

static void read_history(struct history *history,
                         const struct json_value *document)
{
    const struct json_value *list = json_find(json_find(document, "history"),
                                              "points");
    double interval_s =
        json_number(json_find(json_find(document, "history"), "interval_s"), 1);
    const struct json_value *point = NULL;
    size_t at = 0;

    while ((point = json_next(list, point))) {
        const struct json_value *value = json_next(point, NULL);
        double *fields = history->points[at++ % POINTS_MAX];

        for (int i = 0; i < POINT_FIELDS; i++) {
            fields[i] = json_number(value, NAN);
            value = value ? json_next(point, value) : NULL;
        }
        if (interval_s > 0) {
            fields[POINT_REQUESTS] /= interval_s;
            fields[POINT_BYTES] /= interval_s;
        }
    }
    history->count = at;
}

/* The value so many points before the newest; NAN: there is none. */
static double value_before(const struct history *history,
                           enum point_field field, size_t age)
{
    if (age >= history->count || age >= POINTS_MAX)
        return NAN;
    return history->points[(history->count - 1 - age) % POINTS_MAX][field];
}

static void put_bars(struct screen *screen, const struct history *history,
                     enum point_field field, double most)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    unsigned columns = screen_left(screen);

    if (columns > POINTS_MAX)
        columns = POINTS_MAX;
    if (columns >= SCREEN_LABEL_COLUMNS + NOTE_COLUMNS)
        columns -= NOTE_COLUMNS;
    screen_set_style(screen, SCREEN_GOOD);
    for (unsigned age = columns; age-- > 0;) {
        double value = value_before(history, field, age);
        int level = 0;

        if (value > 0) /* a share may be beyond 1 when it comes from afar */
            level = value < most ? (int)(value / most * 7 + 0.5) : 7;
        screen_put(screen, value >= 0
                               ? (screen->is_utf8 ? blocks : ascii)[level]
                               : " ");
    }
    screen_set_style(screen, SCREEN_PLAIN);
}

void top_trend_draw(struct screen *screen, const struct json_value *document)
{
    static const struct {
        const char *label;
        enum point_field field;
        struct figure (*figure)(double value);
    } trends[] = {
        {"Requests/s", POINT_REQUESTS, figure_count},
        {"Sent/s", POINT_BYTES, figure_bytes},
        {"p50", POINT_P50, figure_micros},
        {"p90", POINT_P90, figure_micros},
        {"p99", POINT_P99, figure_micros},
        {"p99 waiting", POINT_WAIT_P99, figure_micros},
        {"Cache hits", POINT_HITS, figure_percent},
        {"Queue depth", POINT_DEPTH, figure_count},
        {"Connections", POINT_OPEN, figure_count},
    };
    struct history history;

    read_history(&history, document);
    for (size_t i = 0; i < sizeof(trends) / sizeof(*trends); i++) {
        enum point_field field = trends[i].field;
        double most = NAN;

        for (size_t age = 0; age < POINTS_MAX; age++)
            most = fmax(most, value_before(&history, field, age));
        screen_put_label(screen, trends[i].label);
        screen_set_style(screen, SCREEN_BOLD);
        screen_put_right(
            screen, trends[i].figure(value_before(&history, field, 0)).text,
            VALUE_COLUMNS);
        screen_set_style(screen, SCREEN_PLAIN);
        screen_put(screen, "  ");
        put_bars(screen, &history, field, field == POINT_HITS ? 1 : most);
        screen_put_fact(screen, SCREEN_DIM, BYTES("max"),
                        trends[i].figure(most).text);
        screen_end_line(screen);
    }
}
