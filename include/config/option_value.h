/*
 * option_value - reads one option's value, given as text.
 *
 * Thread: the main thread's.
 * Owns:   nothing: lists and copies lie in the arena; of a text that is no
 *         list the value borrows what it was read from.
 */
#ifndef CONFIG_OPTION_VALUE_H
#define CONFIG_OPTION_VALUE_H

#include <stdio.h>

#include "config/option_table.h"

/* Whether text stands for no value, whatever is said above ("off"). */
MUST_USE bool option_is_off(const struct option_row *row, const char *text);

/* Sets row's value in base, the struct of its scope; to a list it adds. For a
 * switch, text is true, yes, on, or the like, or false. 0; -EINVAL: that is
 * no such value; -ENOMEM. */
MUST_USE int option_set(void *base, const struct option_row *row,
                        const char *text, struct arena *arena);

/* Says what a value should have been: "is not a number from 0 to 65535". */
void option_explain(FILE *to, const struct option_row *row, const char *text);

/* Empties a list, so that what is added next is all of it. */
void option_clear(void *base, const struct option_row *row);

#endif
