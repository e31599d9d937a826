/*
 * help - what --help prints: how the program is called, every option of the
 * table, and the signals; or how one of its commands is called.
 *
 * Thread: the main thread's.
 */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include <stdbool.h>
#include <stdio.h>

struct program_command;

void help_print(FILE *to);

/* Whether these words, which stand behind the name of a command, ask for help
 * with it. */
bool help_is_asked(int count, char *const *words);
void help_print_command(FILE *to, const struct program_command *command);

#endif
