/*
 * command_line - reads the arguments of the program into options, and says
 * which there are.
 *
 * Thread: the main thread's.
 */
#ifndef SERVER_COMMAND_LINE_H
#define SERVER_COMMAND_LINE_H

#include <stdio.h>

#include "server/options.h"

/* Fills in defaults and what argv says. 0, or -EINVAL after one line on
 * errors that names the option, what is wrong and what would be right. To be
 * given to options_fini() either way. */
MUST_USE int command_line_read(struct options *options, int argc, char **argv,
                               FILE *errors);

void command_line_print_help(FILE *to);

#endif
