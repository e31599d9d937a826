/*
 * option_compare - compares the values of an option in two configurations.
 *
 * Thread: any; no state.
 */
#ifndef CONFIG_OPTION_COMPARE_H
#define CONFIG_OPTION_COMPARE_H

#include "config/option_table.h"

/* Whether the option in `row` has equal values in `base` and `other`, two
 * structs of the row's scope. Texts are compared byte by byte. */
bool option_is_equal(const void *base, const void *other,
                     const struct option_row *row);

#endif
