/*
 * help - prints --help: how to call the program, all options, and the signals.
 * Also prints how to call one of the program's commands.
 *
 * Thread: the main thread's.
 */
#ifndef TOOLS_HELP_H
#define TOOLS_HELP_H

#include <stdbool.h>
#include <stdio.h>

struct program_command;

void help_print(FILE *to);

/* Whether the words behind a command's name ask for help about the command. */
bool help_is_asked(int count, char *const *words);
void help_print_command(FILE *to, const struct program_command *command);

#endif
