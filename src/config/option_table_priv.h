/*
 * option_table_priv - the groups of rows that make up the table, and their
 * shared definitions. Each file of config/groups has the options of one
 * subject.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_OPTION_TABLE_PRIV_H
#define CONFIG_OPTION_TABLE_PRIV_H

#include <stddef.h>

#include "config/option_table.h"

struct option_group {
    const struct option_row *rows;
    size_t count;
};

#define OPTION_GROUP(array)                       \
    {                                             \
        array, sizeof(array) / sizeof((array)[0]) \
    }

extern const struct option_group start_options;
extern const struct option_group tls_options;
extern const struct option_group work_options;
extern const struct option_group file_options;
extern const struct option_group answer_options;
extern const struct option_group limit_options;
extern const struct option_group kv_options;
extern const struct option_group proxy_options;
extern const struct option_group service_options;

extern const struct option_choice option_on_off[];
/* The word "off", which cancels an inherited value. */
extern const struct option_choice option_off[];
extern const struct option_choice option_schedules[];
extern const struct option_choice option_cache_policies[];

/* These macros give a row its scope, and the offset of its value. */
#define AT(member) OPTION_GLOBAL, offsetof(struct options, member)
#define AT_START(member) OPTION_START, offsetof(struct options, member)
#define IN_COMMAND(member) OPTION_COMMAND, offsetof(struct options, member)
#define IN_LOCATION(member) \
    OPTION_LOCATION, offsetof(struct location_options, member)
#define IN_SITE(member) OPTION_SITE, offsetof(struct location_options, member)

#define HOURS_24_MS (24ull * 3600 * 1000)
#define TIB (1ull << 40)

#endif
