/*
 * option_table - all options in one table, with their names, kinds of value,
 * limits, defaults and help. The command line, --help, the configuration file,
 * its check, the manual and the completions are all made from it.
 *
 * A row's value lies in struct options; or in struct location_options, if sites
 * or locations can set it.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include "base/bytes.h"
#include "config/options.h"

enum option_kind {
    OPTION_SWITCH, /* a bool; needs no value behind the name */
    OPTION_NUMBER,
    OPTION_BYTES, /* a number with K, M or G */
    OPTION_TIME,  /* milliseconds; written in seconds, or with ms, s or m */
    OPTION_RATE,  /* bits per second, with K, M, G of 1000; or auto, off */
    OPTION_TEXT,
    OPTION_PROSE, /* a text that may be empty or have several lines */
    OPTION_PATH,  /* a path; in a file, relative to the first file's folder */
    OPTION_CHOICE,
    OPTION_FORMAT, /* a format of the access log */
    OPTION_PREFIX, /* a prefix of paths */
    OPTION_TEXTS,  /* texts; may be given up to `max` times */
    OPTION_PATHS,  /* paths; may be given up to `max` times */
    OPTION_CIDRS   /* networks; may be given up to `max` times */
};

enum option_scope {
    OPTION_GLOBAL,   /* lies in struct options */
    OPTION_START,    /* like OPTION_GLOBAL; a reload ignores changes */
    OPTION_COMMAND,  /* valid only on the command line, as --help */
    OPTION_LOCATION, /* lies in struct location_options */
    /* Lies in struct location_options, but no location can set it: only sites
     * and the top level can. */
    OPTION_SITE
};

/* Whether options of this scope lie in struct location_options. */
static inline bool option_is_below_top(enum option_scope scope)
{
    return scope == OPTION_LOCATION || scope == OPTION_SITE;
}

/* Whether a configuration file can set options of this scope only at its top
 * level. */
static inline bool option_is_at_top(enum option_scope scope)
{
    return scope == OPTION_GLOBAL || scope == OPTION_START;
}

struct option_choice {
    const char *name; /* the choice's name; NULL ends a list of choices */
    uint64_t value;
};

struct option_row {
    const char *group; /* title of a new group in --help, or NULL */
    const char *name;
    char letter; /* letter of the short form, or 0 */
    enum option_kind kind;
    enum option_scope scope;
    size_t offset; /* offset in the struct of its scope */
    const char *value_name;
    const char *preset; /* default, as a user would write it; NULL: none */
    uint64_t min;
    uint64_t max;
    /* Words that can be written in place of a value, by `kind`. OPTION_CHOICE:
     * nothing but one of them can be written. Texts and paths: they cancel an
     * inherited value. Networks: they stand for all networks. */
    const struct option_choice *choices;
    /* The help text. It may have several lines; --help indents all but the
     * first. */
    const char *help;
};

/* Returns how many rows the table has. */
size_t option_count(void);

/* Returns the row with that number, from 0 to option_count() - 1. */
const struct option_row *option_row(size_t number);

/* Returns the row's number in the table, which is its index in struct
 * option_origins. */
size_t option_number(const struct option_row *row);

/* Returns the row of the option with that long name; NULL if there is none. */
const struct option_row *option_find(struct bytes name);

/* Returns the name of the choice with that value. */
const char *option_choice_name(const struct option_choice *choices,
                               uint64_t value);

/* The next two functions return the name of the value that an option has, such
 * as "srpt" for the schedule. */
const char *option_schedule_name(const struct options *options);
const char *option_cache_policy_name(const struct options *options);

/* Returns the name of an enum evict_policy. */
const char *option_policy_name(unsigned policy);

#endif
