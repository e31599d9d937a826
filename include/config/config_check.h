/*
 * config_check - the checks of --test: whether the files and folders that
 * options name exist and can be used; without root, DNS or binding a port.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_CHECK_H
#define CONFIG_CONFIG_CHECK_H

#include "config/faults.h"
#include "config/options.h"

/* Adds what it finds to faults, each with its line. A new check is entered in
 * the list in config_check.c. */
typedef void (*config_check_fn)(const struct options *options,
                                struct faults *faults);

void config_check(const struct options *options, struct faults *faults);

/* The origin (options.h) of a global option's value. */
int config_origin(const struct options *options, const char *name);

#endif
