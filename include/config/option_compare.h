/*
 * option_compare - compares the values of an option in two configurations.
 *
 * Thread: any; no state.
 */
#ifndef CONFIG_OPTION_COMPARE_H
#define CONFIG_OPTION_COMPARE_H

#include "config/option_table.h"

/* Whether row's value is equal in base and other, two structs of row's scope.
 * Texts are compared byte by byte. */
bool option_is_equal(const void *base, const void *other,
                     const struct option_row *row);

#endif
