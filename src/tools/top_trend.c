#include "tools/top_trend.h"

#include <math.h>

#include "tools/human_number.h"

enum {
    VALUE_COLUMNS = 11,
    NOTE_COLUMNS = 17, /* room for "  max 123,456,789" */
    POINTS_MAX = 300,  /* how many of the newest points are kept */
    FIELDS_MAX = 16    /* numbers of each point */
};

struct trend_line {
    size_t count; /* points read so far */
    /* A ring of the last points; NAN is an unknown number. */
    double points[POINTS_MAX][FIELDS_MAX];
};

/* Reads a point, an array in the order of the table's rows. */
static void read_point(double *fields, const struct json_value *point,
                       double interval_s)
{
    const struct json_value *value = json_next(point, NULL);
    const struct stats_row *row = NULL;

    while ((row = stats_row_next(STATS_PART_POINT, row))) {
        *fields = json_number(value, NAN);
        if (row->kind == STATS_KIND_COUNTER && interval_s > 0)
            *fields /= interval_s;
        value = value ? json_next(point, value) : NULL;
        fields++;
    }
}

static void read_history(struct trend_line *history,
                         const struct json_value *document)
{
    const struct json_value *list = json_find(json_find(document, "history"),
                                              "points");
    double interval_s =
        json_number(json_find(json_find(document, "history"), "interval_s"), 1);
    const struct json_value *point = NULL;

    history->count = 0;
    while ((point = json_next(list, point)))
        read_point(history->points[history->count++ % POINTS_MAX], point,
                   interval_s);
}

/* Returns the value `age` points before the newest, or NAN if there is none. */
static double value_before(const struct trend_line *history, size_t field,
                           size_t age)
{
    if (age >= history->count || age >= POINTS_MAX)
        return NAN;
    return history->points[(history->count - 1 - age) % POINTS_MAX][field];
}

static void put_bars(struct screen *screen, const struct trend_line *history,
                     size_t field, double most)
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

        /* A server of another version may send shares above 1, so values above
         * `most` get the highest bar. */
        if (value > 0)
            level = value < most ? (int)(value / most * 7 + 0.5) : 7;
        screen_put(screen, value >= 0
                               ? (screen->is_utf8 ? blocks : ascii)[level]
                               : " ");
    }
    screen_set_style(screen, SCREEN_PLAIN);
}

static void draw_trend(struct screen *screen, const struct trend_line *history,
                       const struct stats_row *row, size_t field)
{
    double most = NAN;

    for (size_t age = 0; age < POINTS_MAX; age++)
        most = fmax(most, value_before(history, field, age));
    screen_put_label(screen, row->label);
    screen_set_style(screen, SCREEN_BOLD);
    screen_put_right(screen,
                     human_number_of(row->unit, value_before(history, field, 0))
                         .text,
                     VALUE_COLUMNS);
    screen_set_style(screen, SCREEN_PLAIN);
    screen_put(screen, "  ");
    put_bars(screen, history, field, row->unit == STATS_UNIT_SHARE ? 1 : most);
    screen_put_fact(screen, SCREEN_DIM, BYTES("max"),
                    human_number_of(row->unit, most).text);
    screen_end_line(screen);
}

void top_trend_draw(struct screen *screen, const struct json_value *document)
{
    const struct stats_row *row = NULL;
    struct trend_line history = {0};

    read_history(&history, document);
    for (size_t field = 0; (row = stats_row_next(STATS_PART_POINT, row));
         field++)
        if (row->label)
            draw_trend(screen, &history, row, field);
}
