/*
 * config_section - a section of a configuration file: the top level, a site or
 * a location; also builds its name for messages.
 *
 * Thread: the main thread's.
 * Owns:   nothing: sections lie in their maker's arena.
 */
#ifndef CONFIG_CONFIG_SECTION_H
#define CONFIG_CONFIG_SECTION_H

#include "config/faults.h"
#include "config/option_table.h"

enum {
    CONFIG_SITES_MAX = 1024,
    CONFIG_LOCATIONS_MAX = 256, /* locations of a site */
    CONFIG_LIST_MAX = 256       /* values of one key */
};

enum config_section_kind { CONFIG_TOP, CONFIG_SITE, CONFIG_LOCATION };

/* "hosts" is the only key without a row in the option table; only sites have
 * it. "include" is no key, but the word that includes files. */
#define CONFIG_HOSTS "hosts"
#define CONFIG_INCLUDE "include"

struct config_key {
    const char *name;
    const struct option_row *row; /* NULL for CONFIG_HOSTS */
    int line;
    struct texts values; /* only the valid values */
};

struct config_section {
    enum config_section_kind kind;
    struct bytes title;
    int line;
    struct config_section *above; /* NULL for the top level */
    struct config_key *keys;
    size_t key_count;
    struct config_section *first; /* the sections inside, in order */
    struct config_section *last;
    struct config_section *next;
    size_t count; /* number of sections inside */
};

/* Whether an option may stand in a section of that kind. */
bool config_takes(enum config_section_kind kind, const struct option_row *row);

/* Whether an option takes several values. */
bool config_is_list(const struct option_row *row);

/* Adds a fault whose text begins with the section's name. */
__attribute__((format(printf, 4, 5))) void config_fault(
    struct faults *faults, const struct config_section *section, int line,
    const char *format, ...);

/* How many bytes of a name or title a message shows. CONFIG_SHOWN() gives the
 * arguments for "%.*s". */
enum { CONFIG_SHOWN_MAX = 64 };

#define CONFIG_SHOWN(text)                                                \
    (int)((text).len < CONFIG_SHOWN_MAX ? (text).len : CONFIG_SHOWN_MAX), \
        (text).data

#endif
