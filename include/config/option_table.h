/*
 * option_table - all options in one table: name, kind of value, limits, default
 * and help. The command line, --help, the configuration file, its check, the
 * manual and the completions are all made from it.
 *
 * A row's value lies in struct options, or, if sites or locations can set it,
 * in struct location_options.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include "base/bytes.h"
#include "config/options.h"

enum option_kind {
    OPTION_SWITCH, /* bool, without a value */
    OPTION_NUMBER,
    OPTION_BYTES, /* a number with K, M or G */
    OPTION_TIME,  /* in ms; as text in seconds, or with ms, s or m */
    OPTION_RATE,  /* bits a second with K, M, G of 1000; or auto, off */
    OPTION_TEXT,
    OPTION_PROSE, /* may be empty, or have several lines */
    OPTION_PATH,  /* in a file, relative to that file's folder */
    OPTION_CHOICE,
    OPTION_FORMAT, /* a format of the access log */
    OPTION_PREFIX, /* a prefix of paths */
    OPTION_TEXTS,  /* texts; the option may come again, max times */
    OPTION_PATHS,  /* paths; the option may come again, max times */
    OPTION_CIDRS   /* networks; the option may come again, max times */
};

enum option_scope {
    OPTION_GLOBAL,   /* in struct options */
    OPTION_START,    /* in struct options; not changed by a reload */
    OPTION_COMMAND,  /* on the command line only, as --help */
    OPTION_LOCATION, /* in struct location_options */
    /* In struct location_options; locations cannot set it. */
    OPTION_SITE
};

/* Whether the option is a member of struct location_options. */
static inline bool option_is_below_top(enum option_scope scope)
{
    return scope == OPTION_LOCATION || scope == OPTION_SITE;
}

/* Whether a configuration file sets it at its top, for all sites. */
static inline bool option_is_at_top(enum option_scope scope)
{
    return scope == OPTION_GLOBAL || scope == OPTION_START;
}

struct option_choice {
    const char *name; /* NULL ends a list of choices */
    uint64_t value;
};

struct option_row {
    const char *group; /* title of a new group in --help, or NULL */
    const char *name;
    char letter; /* short form, or 0 */
    enum option_kind kind;
    enum option_scope scope;
    size_t offset; /* offset in the struct of its scope */
    const char *value_name;
    const char *preset; /* default, in the form a user writes; NULL: none */
    uint64_t min;
    uint64_t max;
    /* A text or path: words that cancel an inherited value. Networks: words
     * that stand for all of them. */
    const struct option_choice *choices;
    /* --help indents all lines but the first. */
    const char *help;
};

/* How many rows there are. */
size_t option_count(void);

/* Returns row number of the table, from 0 to option_count() - 1. */
const struct option_row *option_row(size_t number);

/* Returns the row's number in the table, the index in struct option_origins. */
size_t option_number(const struct option_row *row);

/* Returns the row of an option by its long name, or NULL. */
const struct option_row *option_find(struct bytes name);

/* Returns the name of the choice with that value. */
const char *option_choice_name(const struct option_choice *choices,
                               uint64_t value);

/* These return the name of the value of that option, such as "srpt". */
const char *option_schedule_name(const struct options *options);
const char *option_cache_policy_name(const struct options *options);

/* Returns the name of an enum evict_policy. */
const char *option_policy_name(unsigned policy);

#endif
