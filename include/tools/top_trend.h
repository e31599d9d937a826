/*
 * top_trend - draws the last minutes of a server, one line for each statistic:
 * its newest value, bars of its history, its largest value.
 *
 * Thread: any; no state.
 */
#ifndef TOOLS_TOP_TREND_H
#define TOOLS_TOP_TREND_H

#include "base/json_read.h"
#include "tools/screen.h"

/* document: a status.json with its history. */
void top_trend_draw(struct screen *screen, const struct json_value *document);

#endif
