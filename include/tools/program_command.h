/*
 * program_command - what the program does instead of serving, as its first
 * argument says: `sprintd top`, `ctl`, `kv`, `tls`. Help, manual and
 * completions are made from the same table.
 *
 * Thread: the main thread's.
 * Owns:   nothing; constant.
 */
#ifndef TOOLS_PROGRAM_COMMAND_H
#define TOOLS_PROGRAM_COMMAND_H

#include <stddef.h>
#include <stdio.h>

enum { PROGRAM_COMMAND_USAGES_MAX = 4 };

struct program_command {
    const char *name;
    /* The words behind the name. The exit status. */
    int (*run)(int count, char **arguments);
    /* The arguments behind the name, a text for each way to use the command;
     * words in capitals stand for values. Ends with NULL. */
    const char *usages[PROGRAM_COMMAND_USAGES_MAX + 1];
    /* What it does, in whole sentences and lines of at most 80 columns. */
    const char *about;
};

extern const struct program_command program_commands[];
extern const size_t program_command_count;

/* The command that word names; NULL: it names none. */
const struct program_command *program_command_find(const char *word);

/* Prints one line for each usage, "sprintd" and all, indented. */
void program_command_print_usages(FILE *to,
                                  const struct program_command *command,
                                  int indent);

#endif
