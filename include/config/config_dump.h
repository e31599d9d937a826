/*
 * config_dump - prints the options in force as a configuration file, each with
 * the origin of its value.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_DUMP_H
#define CONFIG_CONFIG_DUMP_H

#include <stdio.h>

#include "config/options.h"

/* Prints options to a stream. The output, read as a configuration, gives the
 * same options. For sites and locations, it has only the values that they set
 * themselves. */
void config_dump(FILE *to, const struct options *options);

#endif
