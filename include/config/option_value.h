/*
 * option_value - reads one option's value, given as text.
 *
 * Thread: the main thread's.
 * Owns:   nothing: lists and copies lie in the arena; a text that is no list
 *         borrows what it was read from.
 */
#ifndef CONFIG_OPTION_VALUE_H
#define CONFIG_OPTION_VALUE_H

#include <stdio.h>

#include "config/option_table.h"

/* Whether text cancels the value inherited from above, as "off" does. */
MUST_USE bool option_is_off(const struct option_row *row, const char *text);

/* Sets row's value in base, a struct of its scope; adds to a list. A switch
 * takes true, yes, on and the like, or false and so on. Returns 0; -EINVAL:
 * text is no such value; or -ENOMEM. */
MUST_USE int option_set(void *base, const struct option_row *row,
                        const char *text, struct arena *arena);

/* Prints what a value should be: "is not a number from 0 to 65535". */
void option_explain(FILE *to, const struct option_row *row, const char *text);

/* Empties a list, so that what is added next replaces it. */
void option_clear(void *base, const struct option_row *row);

#endif
