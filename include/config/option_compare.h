/*
 * option_compare - whether two configurations say the same of an option.
 *
 * Thread: any; looks only.
 */
#ifndef CONFIG_OPTION_COMPARE_H
#define CONFIG_OPTION_COMPARE_H

#include "config/option_table.h"

/* base, other: two structs of row's scope. Texts are the same when they read
 * the same. */
bool option_is_equal(const void *base, const void *other,
                     const struct option_row *row);

#endif
