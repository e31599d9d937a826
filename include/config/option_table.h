/*
 * option_table - every option there is, in one table: its name, kind of value,
 * limits, default and help. The command line, --help, the configuration file,
 * its check, the manual and the completions are all made from it.
 *
 * A row's value lies in struct options, or, for what a site or a location can
 * say for itself, in struct location_options.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_OPTION_TABLE_H
#define CONFIG_OPTION_TABLE_H

#include "base/bytes.h"
#include "config/options.h"

enum option_kind {
    OPTION_SWITCH, /* bool, no value */
    OPTION_NUMBER,
    OPTION_BYTES, /* with K, M, G */
    OPTION_TIME,  /* to milliseconds; s unless ms, s or m follows */
    OPTION_RATE,  /* bits a second with K, M, G of 1000; or auto, off */
    OPTION_TEXT,
    OPTION_PROSE, /* may be empty, or have several lines */
    OPTION_PATH,  /* in a file, relative to where that lies */
    OPTION_CHOICE,
    OPTION_FORMAT, /* of the access log */
    OPTION_PREFIX, /* of paths */
    OPTION_TEXTS,  /* texts; the option may come again, max times */
    OPTION_PATHS,  /* paths; the option may come again, max times */
    OPTION_CIDRS   /* networks; the option may come again, max times */
};

enum option_scope {
    OPTION_GLOBAL,   /* a member of struct options */
    OPTION_START,    /* a member of struct options that no reload changes */
    OPTION_COMMAND,  /* of the command line only, as --help */
    OPTION_LOCATION, /* a member of struct location_options */
    /* A member of struct location_options that no location may set. */
    OPTION_SITE
};

/* Whether the option is in struct location_options. */
static inline bool option_is_below_top(enum option_scope scope)
{
    return scope == OPTION_LOCATION || scope == OPTION_SITE;
}

/* Whether a configuration file says it at its top, for all. */
static inline bool option_is_at_top(enum option_scope scope)
{
    return scope == OPTION_GLOBAL || scope == OPTION_START;
}

struct option_choice {
    const char *name; /* NULL ends a list of choices */
    uint64_t value;
};

struct option_row {
    const char *group; /* begins a new group in --help, or NULL */
    const char *name;
    char letter; /* short form, or 0 */
    enum option_kind kind;
    enum option_scope scope;
    size_t offset; /* in the struct of its scope */
    const char *value_name;
    const char *preset; /* default, as one would write it; NULL: none */
    uint64_t min;
    uint64_t max;
    /* For a text or a path: words that take back what was said above it. For
     * blocks of addresses: words that stand for all of them. */
    const struct option_choice *choices;
    /* Lines after the first are indented by --help. */
    const char *help;
};

/* How many rows there are. */
size_t option_count(void);

/* The row at a place of the table, which is below option_count(). */
const struct option_row *option_row(size_t number);

/* The place of row in the table, as in struct option_origins. */
size_t option_number(const struct option_row *row);

/* The row of an option by its long name; NULL: there is none. */
const struct option_row *option_find(struct bytes name);

/* The name of a choice's value. */
const char *option_choice_name(const struct option_choice *choices,
                               uint64_t value);

/* The name of a value of an option with a choice ("srpt"). */
const char *option_schedule_name(const struct options *options);
const char *option_cache_policy_name(const struct options *options);

/* The name of any enum evict_policy. */
const char *option_policy_name(unsigned policy);

#endif
