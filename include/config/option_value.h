/*
 * option_value - reads one option's value, given as text.
 *
 * Thread: the main thread's.
 * Owns:   nothing. Lists and copies lie in the arena; a text that is not in a
 *         list borrows its source.
 */
#ifndef CONFIG_OPTION_VALUE_H
#define CONFIG_OPTION_VALUE_H

#include <stdio.h>

#include "config/option_table.h"

/* Whether `text` is a word, such as "off", that cancels an inherited value. */
MUST_USE bool option_is_off(const struct option_row *row, const char *text);

/* Sets the option in `row` to the value in `text`, or adds the value to a list.
 * `base` is a struct of the row's scope. A switch accepts true, yes and on, or
 * false, no and off. Returns 0, -EINVAL if the value is invalid, or -ENOMEM. */
MUST_USE int option_set(void *base, const struct option_row *row,
                        const char *text, struct arena *arena);

/* Prints why `text` is not a valid value, such as "is not a number from 0 to
 * 65535". */
void option_explain(FILE *to, const struct option_row *row, const char *text);

/* Empties a list, so that values added next replace the old ones. */
void option_clear(void *base, const struct option_row *row);

#endif
