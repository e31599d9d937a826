/*
 * command_line - reads the arguments of the program into options.
 *
 * Thread: the main thread's.
 */
#ifndef CONFIG_COMMAND_LINE_H
#define CONFIG_COMMAND_LINE_H

#include <stdio.h>

#include "config/options.h"

/* Fills `options` with defaults and the values in argv. Returns 0; or -EINVAL
 * after one line on the stream `errors`, which names the option, what is wrong
 * and what would be right. options_fini() is needed in both cases. */
MUST_USE int command_line_read(struct options *options, int argc, char **argv,
                               FILE *errors);

#endif
