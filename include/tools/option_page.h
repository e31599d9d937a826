/*
 * option_page - the page of all options in the documentation, docs/options.md,
 * made from the option table.
 *
 * The page lies in the source so that it can be read there; a test compares it
 * with the table, and `make docs` writes it anew.
 *
 * Thread: any; constant.
 */
#ifndef TOOLS_OPTION_PAGE_H
#define TOOLS_OPTION_PAGE_H

#include <stdio.h>

/* Prints the page as Markdown. */
void option_page_print(FILE *to);

#endif
