/*
 * top_trend - what a server did in the last minutes, a line for each kind of
 * figure: the newest, bars up to it, the largest.
 *
 * Thread: any; no state.
 */
#ifndef TOOLS_TOP_TREND_H
#define TOOLS_TOP_TREND_H

#include "base/json_read.h"
#include "tools/screen.h"

/* document: a status with its history. */
void top_trend_draw(struct screen *screen, const struct json_value *document);

#endif
