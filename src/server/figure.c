#include "server/figure.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Doubles are exact up to here. */
#define AMOUNT_MAX 9e15

static const struct figure unknown = {"-"};

static bool is_amount(double value)
{
    return isfinite(value) && value >= 0 && value <= AMOUNT_MAX;
}

struct figure figure_count(double value)
{
    struct figure figure;
    size_t at = sizeof(figure.text) - 1;
    uint64_t left;

    if (!is_amount(value))
        return unknown;
    left = (uint64_t)(value + 0.5);
    figure.text[at] = '\0';
    for (int digits = 0; digits == 0 || left > 0; digits++, left /= 10) {
        if (digits > 0 && digits % 3 == 0)
            figure.text[--at] = ',';
        figure.text[--at] = (char)('0' + left % 10);
    }
    memmove(figure.text, figure.text + at, sizeof(figure.text) - at);
    return figure;
}

/* units ends with NULL. */
static struct figure scale(double value, const char *const *units, double step)
{
    struct figure figure;
    const char *space = **units ? " " : "";
    int decimals;

    if (!is_amount(value))
        return unknown;
    if (value < step && value == floor(value)) {
        snprintf(figure.text, sizeof(figure.text), "%.0f%s%s", value, space,
                 *units);
        return figure;
    }
    while (value >= step * 0.9995 && units[1]) {
        value /= step;
        units++;
    }
    decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(figure.text, sizeof(figure.text), "%.*f%s%s", decimals, value,
             **units ? " " : "", *units);
    return figure;
}

struct figure figure_brief(double value)
{
    static const char *const units[] = {"", "k", "M", "G", "T", NULL};

    return scale(value, units, 1000);
}

struct figure figure_bytes(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};

    return scale(bytes, units, 1024);
}

struct figure figure_bits(double bits_per_second)
{
    static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s",
                                        NULL};

    return scale(bits_per_second, units, 1000);
}

struct figure figure_micros(double us)
{
    static const char *const units[] = {"us", "ms", "s", NULL};
    static const char *const minutes[] = {"min", NULL};

    return us >= 6e7 ? scale(us / 6e7, minutes, 1e9) : scale(us, units, 1000);
}

struct figure figure_percent(double ratio)
{
    struct figure figure;

    if (!is_amount(ratio) || ratio > 1000)
        return unknown;
    snprintf(figure.text, sizeof(figure.text), "%.*f %%", ratio < 0.1 ? 2 : 1,
             ratio * 100);
    return figure;
}

struct figure figure_duration(double seconds)
{
    static const struct {
        uint64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    struct figure figure;
    uint64_t left;
    size_t unit = 0;
    size_t last = sizeof(units) / sizeof(*units) - 1;

    if (!is_amount(seconds))
        return unknown;
    left = (uint64_t)seconds;
    while (unit < last && left < units[unit].seconds)
        unit++;
    if (unit == last)
        snprintf(figure.text, sizeof(figure.text), "%" PRIu64 " s", left);
    else
        snprintf(figure.text, sizeof(figure.text),
                 "%" PRIu64 " %s %" PRIu64 " %s", left / units[unit].seconds,
                 units[unit].name,
                 left % units[unit].seconds / units[unit + 1].seconds,
                 units[unit + 1].name);
    return figure;
}

struct figure figure_of(enum stats_unit unit, double value)
{
    switch (unit) {
    case STATS_UNIT_BYTES:
        return figure_bytes(value);
    case STATS_UNIT_BYTES_A_SECOND:
        return figure_bits(8 * value);
    case STATS_UNIT_NS:
    case STATS_UNIT_US:
        return figure_micros(value);
    case STATS_UNIT_MS:
    case STATS_UNIT_MOMENT:
        return figure_duration(value);
    case STATS_UNIT_SHARE:
        return figure_percent(value);
    case STATS_UNIT_NUMBER:
    case STATS_UNIT_BOOL:
    case STATS_UNIT_TEXT:
    case STATS_UNIT_RATE:
        break;
    }
    return figure_count(value);
}
