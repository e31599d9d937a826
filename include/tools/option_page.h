/*
 * option_page - prints docs/options.md, the reference of all options, made from
 * the option table.
 *
 * The page is kept in the source tree, where people read it. A test compares
 * the page with the table, and `make docs` writes the page anew.
 *
 * Thread: any; constant.
 */
#ifndef TOOLS_OPTION_PAGE_H
#define TOOLS_OPTION_PAGE_H

#include <stdio.h>

/* Prints the page as Markdown. */
void option_page_print(FILE *to);

#endif
