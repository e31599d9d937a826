#include "config/option_value.h"

#include <errno.h>
#include <stdlib.h>

#include "config/option_rule.h"
#include "handler/status/status.h"
#include "observe/access_log.h"

enum { MS_PER_HOUR = 3600 * 1000 };

/* --- Values --------------------------------------------------------------- */

/* Reads a number with one of the suffixes. The result is the number times the
 * suffix's value. The number may have a fraction if the suffix's value is above
 * 1. Returns false if `text` is not such a number. */
static bool read_scaled(const char *text, const struct option_choice *suffixes,
                        uint64_t *value_out)
{
    char *end;
    double value;

    if (!byte_is_digit(text[0]))
        return false;
    errno = 0;
    value = strtod(text, &end);
    if (errno != 0 || text[strspn(text, "0123456789.")] != *end)
        return false; /* exponents and hexadecimal digits are refused */
    for (; suffixes->name; suffixes++) {
        if (strcmp(end, suffixes->name) != 0)
            continue;
        value *= (double)suffixes->value;
        if (value > 9e18 || (suffixes->value == 1 && strchr(text, '.')))
            return false;
        *value_out = (uint64_t)value;
        return true;
    }
    return false;
}

static bool read_choice(const struct option_choice *choices, const char *text,
                        uint64_t *value_out)
{
    for (; choices->name; choices++) {
        if (strcmp(text, choices->name) == 0) {
            *value_out = choices->value;
            return true;
        }
    }
    return false;
}

static bool read_number(const struct option_row *row, const char *text,
                        uint64_t *value_out)
{
    static const struct option_choice plain[] = {{"", 1}, {0}};
    static const struct option_choice sizes[] = {{"", 1},        {"K", 1 << 10},
                                                 {"k", 1 << 10}, {"M", 1 << 20},
                                                 {"m", 1 << 20}, {"G", 1 << 30},
                                                 {"g", 1 << 30}, {0}};
    static const struct option_choice times[] = {
        {"", 1000},   {"s", 1000},        {"ms", 1},
        {"m", 60000}, {"h", MS_PER_HOUR}, {0}};
    const struct option_choice *suffixes = row->kind == OPTION_BYTES  ? sizes
                                           : row->kind == OPTION_TIME ? times
                                                                      : plain;

    if (row->choices && read_choice(row->choices, text, value_out))
        return true;
    return read_scaled(text, suffixes, value_out) && *value_out >= row->min &&
           *value_out <= row->max;
}

static bool read_rate(const struct option_row *row, const char *text,
                      uint64_t *value_out)
{
    static const struct option_choice rates[] = {{"", 1},
                                                 {"k", 1000},
                                                 {"K", 1000},
                                                 {"m", 1000000},
                                                 {"M", 1000000},
                                                 {"g", 1000000000},
                                                 {"G", 1000000000},
                                                 {"kbit", 1000},
                                                 {"mbit", 1000000},
                                                 {"gbit", 1000000000},
                                                 {0}};
    static const struct option_choice words[] = {
        {"off", OPTIONS_LINK_OFF}, {"auto", OPTIONS_LINK_AUTO}, {0}};

    return read_choice(words, text, value_out) ||
           (read_scaled(text, rates, value_out) && *value_out >= row->min &&
            *value_out <= row->max);
}

/* Whether `text` can be the value of a header field: it has no control
 * characters, which could end the field's line. */
static bool is_field_text(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return false;
    return true;
}

static bool is_prose(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t') ||
            *text == 0x7F)
            return false;
    return true;
}

static bool is_format(const char *text, char fault[LOG_FAULT_BYTES_MAX])
{
    struct log_format format;

    return log_format_compile(&format, text, fault) == 0;
}

static int read_switch(const char *text, bool *value_out)
{
    static const struct option_choice words[] = {{"true", 1}, {"yes", 1},
                                                 {"on", 1},   {"false", 0},
                                                 {"no", 0},   {"off", 0},
                                                 {0}};
    uint64_t value;

    if (!read_choice(words, text, &value))
        return -EINVAL;
    *value_out = value != 0;
    return 0;
}

static int add_text(struct texts *texts, const struct option_row *row,
                    const char *text, struct arena *arena)
{
    if (text[0] == '\0' || !is_field_text(text) || texts->count == row->max ||
        option_rule_check(row, bytes_of(text)))
        return -EINVAL;
    return texts_add(texts, arena, text) ? 0 : -ENOMEM;
}

static int add_cidr(struct cidrs *cidrs, const struct option_row *row,
                    const char *text, struct arena *arena)
{
    struct cidr cidr = {.family = CIDR_ALL};
    struct cidr *items;
    uint64_t all;

    if (!(row->choices && read_choice(row->choices, text, &all)) &&
        !cidr_parse(&cidr, text))
        return -EINVAL;
    if (cidrs->count == row->max)
        return -EINVAL;
    items = arena_grow(arena, cidrs->items, cidrs->count, sizeof(cidr));
    if (!items)
        return -ENOMEM;
    cidrs->items = items;
    items[cidrs->count++] = cidr;
    return 0;
}

static int sound(bool is_right)
{
    return is_right ? 0 : -EINVAL;
}

static int set_text(void *at, const char *text, bool is_right)
{
    if (is_right)
        memcpy(at, &text, sizeof(text));
    return sound(is_right);
}

bool option_is_off(const struct option_row *row, const char *text)
{
    uint64_t value;

    return row->choices && row->kind != OPTION_CHOICE &&
           read_choice(row->choices, text, &value);
}

int option_set(void *base, const struct option_row *row, const char *text,
               struct arena *arena)
{
    void *at = (char *)base + row->offset;
    char fault[LOG_FAULT_BYTES_MAX];

    switch (row->kind) {
    case OPTION_SWITCH:
        return read_switch(text, at);
    case OPTION_NUMBER:
    case OPTION_BYTES:
    case OPTION_TIME:
        return sound(read_number(row, text, at));
    case OPTION_CHOICE:
        return sound(read_choice(row->choices, text, at));
    case OPTION_RATE:
        return sound(read_rate(row, text, at));
    case OPTION_TEXT:
    case OPTION_PATH:
        if (option_is_off(row, text))
            return set_text(at, NULL, true);
        return set_text(at, text,
                        text[0] != '\0' && is_field_text(text) &&
                            !option_rule_check(row, bytes_of(text)));
    case OPTION_PROSE:
        return set_text(at, text, is_prose(text));
    case OPTION_FORMAT:
        return set_text(at, text, is_format(text, fault));
    case OPTION_PREFIX:
        return sound(status_read_prefix(text, at));
    case OPTION_TEXTS:
    case OPTION_PATHS:
        return add_text(at, row, text, arena);
    case OPTION_CIDRS:
        return add_cidr(at, row, text, arena);
    }
    return -EINVAL;
}

void option_clear(void *base, const struct option_row *row)
{
    void *at = (char *)base + row->offset;

    if (row->kind == OPTION_TEXTS || row->kind == OPTION_PATHS)
        *(struct texts *)at = (struct texts){0};
    else if (row->kind == OPTION_CIDRS)
        *(struct cidrs *)at = (struct cidrs){0};
}

/* Prints the limits of a number, a size or a time. */
static void explain_limits(FILE *to, const struct option_row *row)
{
    unsigned long long min = row->min;
    unsigned long long max = row->max;

    if (row->kind == OPTION_NUMBER)
        fprintf(to, "a number from %llu to %llu%s%s", min, max,
                row->choices ? ", or " : "",
                row->choices ? row->choices->name : "");
    else if (row->kind == OPTION_BYTES)
        fprintf(to, "a size from %llu to %llu bytes, such as 64K or 1M", min,
                max);
    else
        fprintf(to, "a time from %llums to %lluh, such as 500ms, 30, 2m or 1h",
                min, max / MS_PER_HOUR);
}

void option_explain(FILE *to, const struct option_row *row, const char *text)
{
    char fault[LOG_FAULT_BYTES_MAX];
    const char *words = option_rule_check(row, bytes_of(text));

    if (words) {
        fputs(words, to);
        return;
    }
    fputs("is not ", to);
    switch (row->kind) {
    case OPTION_NUMBER:
    case OPTION_BYTES:
    case OPTION_TIME:
        explain_limits(to, row);
        break;
    case OPTION_RATE:
        fputs("auto, off, or bits a second from 8K on, such as 80M", to);
        break;
    case OPTION_CHOICE:
        fputs("one of", to);
        for (const struct option_choice *choice = row->choices; choice->name;
             choice++)
            fprintf(to, " %s", choice->name);
        break;
    case OPTION_TEXTS:
    case OPTION_PATHS:
        fprintf(to, "accepted: at most %llu texts without control characters",
                (unsigned long long)row->max);
        break;
    case OPTION_PREFIX:
        fprintf(to,
                "a path of letters, digits and \"-._~\", such as /_sprintd, of "
                "at most %d bytes",
                STATUS_PREFIX_BYTES_MAX);
        break;
    case OPTION_CIDRS:
        fprintf(to,
                "a block of addresses, such as 192.0.2.0/24, with no bit set "
                "behind its length%s; at most %llu of them are taken",
                row->choices ? ", or all" : "", (unsigned long long)row->max);
        break;
    case OPTION_FORMAT:
        if (!is_format(text, fault))
            fprintf(to, "a format: %s", fault);
        break;
    case OPTION_SWITCH:
        fputs("yes or no", to);
        break;
    case OPTION_TEXT:
    case OPTION_PATH:
        fputs("a text without control characters", to);
        break;
    case OPTION_PROSE:
        fputs("a text without control characters but line ends and tabs", to);
        break;
    }
}
