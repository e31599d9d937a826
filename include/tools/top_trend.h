/*
 * top_trend - draws the last minutes of a server, one line for each statistic.
 * A line has the newest value, bars of the history, and the largest value.
 *
 * Thread: any; no state.
 */
#ifndef TOOLS_TOP_TREND_H
#define TOOLS_TOP_TREND_H

#include "base/json_read.h"
#include "tools/screen.h"

/* Draws the history of `document`, a status.json. */
void top_trend_draw(struct screen *screen, const struct json_value *document);

#endif
