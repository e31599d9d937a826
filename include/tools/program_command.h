/*
 * program_command - the commands that the program runs instead of serving:
 * `sprintd top`, `ctl`, `kv`, `tls`. Help, manual and completions are made from
 * the same table.
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
    /* Runs the command with the words behind its name. Returns the exit
     * status. */
    int (*run)(int count, char **arguments);
    /* One text for each way to use the command: the arguments behind its name,
     * with values in capitals. The list ends with NULL. */
    const char *usages[PROGRAM_COMMAND_USAGES_MAX + 1];
    /* What the command does: whole sentences, lines of at most 80 columns. */
    const char *about;
};

extern const struct program_command program_commands[];
extern const size_t program_command_count;

/* Returns the command called `word`, or NULL. */
const struct program_command *program_command_find(const char *word);

/* Prints one indented line for each usage, with "sprintd" in front. */
void program_command_print_usages(FILE *to,
                                  const struct program_command *command,
                                  int indent);

#endif
