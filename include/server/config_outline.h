/*
 * config_outline - which keys and sections a configuration file has, and on
 * which lines.
 *
 * libconfuse stops at the first key it does not know, lets the last of two
 * count, and knows the line of no value when it is asked later. The outline is
 * made before: it finds all unknown, misplaced and doubled keys and what is
 * wrong with the form, and blanks them, so that libconfuse reads the rest; the
 * n-th section and key are the same in both.
 *
 * Thread: the main thread's.
 * Owns:   nothing: it lies in the arena it is given; titles point into the
 *         text.
 */
#ifndef SERVER_CONFIG_OUTLINE_H
#define SERVER_CONFIG_OUTLINE_H

#include "server/config_source.h"
#include "server/option_table.h"

enum {
    CONFIG_SITES_MAX = 1024,
    CONFIG_LOCATIONS_MAX = 256, /* of one site */
    CONFIG_LIST_MAX = 256       /* values of one key */
};

enum config_section_kind { CONFIG_TOP, CONFIG_SITE, CONFIG_LOCATION };

/* The key that only sites have. */
#define CONFIG_HOSTS "hosts"

struct config_key {
    const struct option_row *row; /* NULL: it is CONFIG_HOSTS */
    int line;
};

struct config_section {
    enum config_section_kind kind;
    struct bytes title;
    int line;
    const struct config_section *above; /* NULL: this is the top */
    struct config_key *keys;
    size_t key_count;
    struct config_section *first; /* inside, in their order */
    struct config_section *last;
    struct config_section *next;
    size_t count; /* of those inside */
};

/* NULL: no memory. */
MUST_USE struct config_section *config_outline(
    const struct config_source *source, struct arena *arena,
    struct faults *faults);

/* Whether row may stand in a section of that kind. */
bool config_takes(enum config_section_kind kind, const struct option_row *row);

/* Whether row takes several values. */
bool config_is_list(const struct option_row *row);

/* A fault of section, which its text begins with. */
__attribute__((format(printf, 4, 5))) void config_fault(
    struct faults *faults, const struct config_section *section, int line,
    const char *format, ...);

#endif
