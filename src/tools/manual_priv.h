/*
 * manual_priv - prints text and options for roff (manual_text.c). Both pages of
 * the manual use it (manual.c, manual_file.c).
 *
 * Thread: the main thread of a process that does nothing else.
 */
#ifndef TOOLS_MANUAL_PRIV_H
#define TOOLS_MANUAL_PRIV_H

#include <stdio.h>

#include "config/option_table.h"

/* Puts a character. is_first is true at the beginning of a line, where '.' and
 * '\'' would be commands. */
void manual_put_char(FILE *to, char c, bool is_first);
void manual_put_text(FILE *to, const char *text);

/* Puts the page's title, and its line for apropos(1). */
void manual_put_head(FILE *to, const char *name, int section, const char *what);

/* Puts an option in the form of the command line. */
void manual_put_option(FILE *to, const struct option_row *row);

/* Puts an option as a key of the configuration file. */
void manual_put_key(FILE *to, const struct option_row *row);

/* Explains how sizes, rates and times are written. */
void manual_put_values(FILE *to);

#endif
