/*
 * configuration - reads the command line, and the file that it names, when the
 * server starts and again at a reload.
 *
 * Thread: the main thread's.
 */
#ifndef CONFIG_CONFIGURATION_H
#define CONFIG_CONFIGURATION_H

#include <stdio.h>

#include "config/options.h"

/* Reads and checks the options; with --test, also the files and folders that
 * they name. Returns EX_OK; or EX_USAGE or EX_CONFIG, after writing all faults
 * to the stream `errors`. options_fini() is needed in both cases. */
MUST_USE int configuration_read(struct options *options, int argc, char **argv,
                                FILE *errors);

#endif
