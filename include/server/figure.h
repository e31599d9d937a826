/*
 * figure - a number as people read it, in the manner of the dashboard.
 *
 * Three digits that count and a unit that leaves them before the point: 1.23
 * ms, 45.6 KiB, 789 s. NAN, which stands for what is not known, and whatever
 * else is no amount, is "-".
 *
 * Thread: any; values only.
 */
#ifndef SERVER_FIGURE_H
#define SERVER_FIGURE_H

#include "observe/stats_rows.h"

enum { FIGURE_BYTES_MAX = 63 };

struct figure {
    char text[FIGURE_BYTES_MAX + 1];
};

struct figure figure_count(double value); /* 1,234,567 */
struct figure figure_brief(double value); /* 1.23 M */
struct figure figure_bytes(double bytes);
struct figure figure_bits(double bits_per_second);
struct figure figure_micros(double us); /* "us" is written so, in ASCII */
struct figure figure_percent(double ratio);
struct figure figure_duration(double seconds); /* 3 d 4 h */

/* What the JSON of the statistics has of that unit. */
struct figure figure_of(enum stats_unit unit, double value);

#endif
