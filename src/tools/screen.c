#include "tools/screen.h"

unsigned screen_left(const struct screen *screen)
{
    if (screen->height > 0 && screen->row >= screen->height)
        return 0;
    return screen->width - screen->column;
}

void screen_put(struct screen *screen, const char *text)
{
    unsigned left = screen_left(screen);
    const char *at = text;

    for (; *at; at++) {
        if (((unsigned char)*at & 0xC0) == 0x80)
            continue; /* this byte belongs to the previous character */
        if (left == 0)
            break;
        left--;
        screen->column++;
    }
    buf_put(screen->out, bytes_between(text, at));
}

void screen_put_foreign(struct screen *screen, struct bytes text)
{
    char storage[4 * SCREEN_WIDTH_MAX + 1]; /* each byte may become "\xHH" */
    unsigned left = screen_left(screen);
    struct buf visible;

    if (text.len > left)
        text.len = left; /* each byte takes at least one column */
    buf_init(&visible, storage, sizeof(storage), sizeof(storage));
    buf_put_log(&visible, text);
    buf_put(&visible, (struct bytes){"", 1});
    screen_put(screen, storage);
}

void screen_put_gap(struct screen *screen, unsigned column)
{
    do
        screen_put(screen, " ");
    while (screen->column < column && screen_left(screen) > 0);
}

void screen_put_right(struct screen *screen, const char *text, unsigned columns)
{
    unsigned len = (unsigned)strlen(text);

    if (screen_left(screen) < columns) {
        screen->column = screen->width;
        return;
    }
    for (unsigned i = len; i < columns; i++)
        screen_put(screen, " ");
    screen_put(screen, text);
}

void screen_set_style(struct screen *screen, enum screen_style style)
{
    static const char *const sequences[] = {
        [SCREEN_PLAIN] = "\033[0m",   [SCREEN_BOLD] = "\033[0;1m",
        [SCREEN_DIM] = "\033[0;2m",   [SCREEN_GOOD] = "\033[0;36m",
        [SCREEN_WARN] = "\033[0;33m", [SCREEN_BAD] = "\033[0;1;31m"};

    if (screen->has_styles && screen_left(screen) > 0)
        buf_put(screen->out, bytes_of(sequences[style]));
}

void screen_end_line(struct screen *screen)
{
    if (screen->height > 0 && screen->row >= screen->height)
        return;
    if (screen->has_styles)
        buf_put_literal(screen->out, "\033[0m");
    buf_put_literal(screen->out, "\n");
    screen->row++;
    screen->column = 0;
}

void screen_put_label(struct screen *screen, const char *label)
{
    screen_set_style(screen, SCREEN_DIM);
    screen_put(screen, label);
    screen_set_style(screen, SCREEN_PLAIN);
    screen_put_gap(screen, SCREEN_LABEL_COLUMNS);
}

void screen_put_fact(struct screen *screen, enum screen_style style,
                     struct bytes name, const char *value)
{
    if (screen_left(screen) < name.len + strlen(value) + 3) {
        screen->column = screen->width;
        return;
    }
    screen_put(screen, "  ");
    screen_set_style(screen, style);
    screen_put_foreign(screen, name);
    screen_set_style(screen, SCREEN_PLAIN);
    screen_put(screen, " ");
    screen_put(screen, value);
}
