/*
 * configuration - all that the server is told: the command line, and then the
 * file that it names. Read when the server starts, and again by a reload.
 *
 * Thread: the main thread's.
 */
#ifndef CONFIG_CONFIGURATION_H
#define CONFIG_CONFIGURATION_H

#include <stdio.h>

#include "config/options.h"

/* EX_OK, or EX_USAGE or EX_CONFIG after all that is wrong on errors. With
 * --test the places that options name are looked at as well. To be given to
 * options_fini() either way. */
MUST_USE int configuration_read(struct options *options, int argc, char **argv,
                                FILE *errors);

#endif
