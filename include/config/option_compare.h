/*
 * option_compare - whether two configurations say the same of an option.
 *
 * Thread: any; looks only.
 */
#ifndef CONFIG_OPTION_COMPARE_H
#define CONFIG_OPTION_COMPARE_H

#include "config/option_table.h"

/* base and other are structs of row's scope. Texts are equal if their bytes
 * are. */
bool option_is_equal(const void *base, const void *other,
                     const struct option_row *row);

#endif
