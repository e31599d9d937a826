#include "tools/human_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Doubles are exact up to this number. */
#define AMOUNT_MAX 9e15

static const struct human_number unknown = {"-"};

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0 && value <= AMOUNT_MAX;
}

struct human_number human_number_count(double value)
{
    struct human_number number;
    size_t at = sizeof(number.text) - 1;
    uint64_t left;

    if (!is_amount(value))
        return unknown;
    left = (uint64_t)(value + 0.5);
    number.text[at] = '\0';
    for (int digits = 0; digits == 0 || left > 0; digits++, left /= 10) {
        if (digits > 0 && digits % 3 == 0)
            number.text[--at] = ',';
        number.text[--at] = (char)('0' + left % 10);
    }
    memmove(number.text, number.text + at, sizeof(number.text) - at);
    return number;
}

/* Formats `value` with the largest unit that keeps the number at 1 or more.
 * Each unit is `step` times the previous unit; `units` ends with NULL. */
static struct human_number scale(double value, const char *const *units,
                                 double step)
{
    struct human_number number;
    const char *space = **units ? " " : "";
    int decimals;

    if (!is_amount(value))
        return unknown;
    if (value < step && value == floor(value)) {
        snprintf(number.text, sizeof(number.text), "%.0f%s%s", value, space,
                 *units);
        return number;
    }
    while (value >= step * 0.9995 && units[1]) {
        value /= step;
        units++;
    }
    decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(number.text, sizeof(number.text), "%.*f%s%s", decimals, value,
             **units ? " " : "", *units);
    return number;
}

struct human_number human_number_brief(double value)
{
    static const char *const units[] = {"", "k", "M", "G", "T", NULL};

    return scale(value, units, 1000);
}

struct human_number human_number_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};

    return scale(bytes, units, 1024);
}

struct human_number human_number_bits(double bits_per_second)
{
    static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s",
                                        NULL};

    return scale(bits_per_second, units, 1000);
}

struct human_number human_number_micros(double us)
{
    static const char *const units[] = {"us", "ms", "s", NULL};
    static const char *const minutes[] = {"min", NULL};

    return us >= 6e7 ? scale(us / 6e7, minutes, 1e9) : scale(us, units, 1000);
}

struct human_number human_number_percent(double ratio)
{
    struct human_number number;

    if (!is_amount(ratio) || ratio > 1000)
        return unknown;
    snprintf(number.text, sizeof(number.text), "%.*f %%", ratio < 0.1 ? 2 : 1,
             ratio * 100);
    return number;
}

struct human_number human_number_duration(double seconds)
{
    static const struct {
        uint64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    struct human_number number;
    uint64_t left;
    size_t unit = 0;
    size_t last = sizeof(units) / sizeof(*units) - 1;

    if (!is_amount(seconds))
        return unknown;
    left = (uint64_t)seconds;
    while (unit < last && left < units[unit].seconds)
        unit++;
    if (unit == last)
        snprintf(number.text, sizeof(number.text), "%" PRIu64 " s", left);
    else
        snprintf(number.text, sizeof(number.text),
                 "%" PRIu64 " %s %" PRIu64 " %s", left / units[unit].seconds,
                 units[unit].name,
                 left % units[unit].seconds / units[unit + 1].seconds,
                 units[unit + 1].name);
    return number;
}

struct human_number human_number_of(enum stats_unit unit, double value)
{
    switch (unit) {
    case STATS_UNIT_BYTES:
        return human_number_bytes(value);
    case STATS_UNIT_BYTES_A_SECOND:
        return human_number_bits(8 * value);
    case STATS_UNIT_NS:
    case STATS_UNIT_US:
        return human_number_micros(value);
    case STATS_UNIT_MS:
    case STATS_UNIT_MOMENT:
        return human_number_duration(value);
    case STATS_UNIT_SHARE:
        return human_number_percent(value);
    case STATS_UNIT_NUMBER:
    case STATS_UNIT_BOOL:
    case STATS_UNIT_TEXT:
    case STATS_UNIT_RATE:
        break;
    }
    return human_number_count(value);
}
