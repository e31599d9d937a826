/*
 * top_draw - the statistics of a server as lines for a terminal.
 *
 * The most important lines come first. Lines that do not fit the window are
 * left out. A missing or invalid member is shown as "-", never as a fault.
 *
 * Thread: any; no state.
 */
#ifndef TOOLS_TOP_DRAW_H
#define TOOLS_TOP_DRAW_H

#include "base/json_read.h"

struct top_view {
    unsigned width;
    unsigned height; /* lines; 0 for no limit */
    bool has_styles;
    bool is_utf8;        /* the terminal understands UTF-8 */
    const char *trouble; /* why the numbers are old; NULL if they are new */
};

/* Whether `document` is a status.json of sprintd. */
bool top_is_status(const struct json_value *document);

/* Puts at most view->height lines; a newline ends each line. */
void top_draw(struct buf *out, const struct json_value *document,
              const struct top_view *view);

#endif
