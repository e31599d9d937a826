/*
 * config_dump - prints what is in force as a configuration file, and with
 * each value where it is from.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_DUMP_H
#define CONFIG_CONFIG_DUMP_H

#include <stdio.h>

#include "config/options.h"

/* Reading what is printed leads to the same options. Of sites and locations
 * it is what they say themselves. */
void config_dump(FILE *to, const struct options *options);

#endif
