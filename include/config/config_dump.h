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

/* Reading the output back gives the same options. For sites and locations, it
 * has only what they set themselves. */
void config_dump(FILE *to, const struct options *options);

#endif
