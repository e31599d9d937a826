/*
 * help - what --help prints: how the program is called, every option of the
 * table, and the signals.
 *
 * Thread: the main thread's.
 */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include <stdio.h>

void help_print(FILE *to);

#endif
