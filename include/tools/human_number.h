/*
 * human_number - formats numbers for people, as the dashboard does.
 *
 * A number has three significant digits, and a unit that keeps it below 1000:
 * 1.23 ms, 45.6 KiB, 789 s. NAN means that a number is unknown; NAN and invalid
 * numbers are shown as "-".
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

struct human_number human_number_count(double value); /* like 1,234,567 */
struct human_number human_number_brief(double value); /* like 1.23 M */
struct human_number human_number_bytes(double bytes);
struct human_number human_number_bits(double bits_per_second);
struct human_number human_number_micros(double us); /* the unit is "us" */
struct human_number human_number_percent(double ratio);
struct human_number human_number_duration(double seconds); /* like 3 d 4 h */

/* Formats a number that has the unit `unit` in the statistics' JSON. */
struct human_number human_number_of(enum stats_unit unit, double value);

#endif
