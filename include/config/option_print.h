/*
 * option_print - writes one option's value as text from which option_set()
 * reads the same value.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_OPTION_PRINT_H
#define CONFIG_OPTION_PRINT_H

#include <stdio.h>

#include "config/option_table.h"

/* Writes the value that the option in `row` has in `base`, as a configuration
 * file would have it: "64M", yes, "a text", or {"a", "list"}. If there is no
 * value, writes nothing and returns false. */
MUST_USE bool option_print(FILE *to, const void *base,
                           const struct option_row *row);

/* Writes `text` as a string of a configuration file. */
void option_print_text(FILE *to, const char *text);

#endif
