/*
 * human_number - a number as people read it, in the manner of the dashboard.
 *
 * Three digits that count and a unit that leaves them before the point: 1.23
 * ms, 45.6 KiB, 789 s. NAN, which stands for what is not known, and whatever
 * else is no amount, is "-".
 *
 * Thread: any; values only.
 */
#ifndef TOOLS_HUMAN_NUMBER_H
#define TOOLS_HUMAN_NUMBER_H

#include "observe/stats_rows.h"

enum { HUMAN_NUMBER_BYTES_MAX = 63 };

struct human_number {
    char text[HUMAN_NUMBER_BYTES_MAX + 1];
};

struct human_number human_number_count(double value); /* 1,234,567 */
struct human_number human_number_brief(double value); /* 1.23 M */
struct human_number human_number_bytes(double bytes);
struct human_number human_number_bits(double bits_per_second);
struct human_number human_number_micros(
    double us); /* "us" is written so, in ASCII */
struct human_number human_number_percent(double ratio);
struct human_number human_number_duration(double seconds); /* 3 d 4 h */

/* The number that the JSON of the statistics has in that unit. */
struct human_number human_number_of(enum stats_unit unit, double value);

#endif
