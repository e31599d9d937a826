/*
 * config_check - the checks of --test: whether the files and folders that
 * options name exist and can be used. The checks need neither root's rights nor
 * DNS, and bind none of the configured ports.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_CHECK_H
#define CONFIG_CONFIG_CHECK_H

#include "config/faults.h"
#include "config/options.h"

/* A check adds the errors that it finds to `faults`, each with its line.
 * config_check.c has the list of checks. */
typedef void (*config_check_fn)(const struct options *options,
                                struct faults *faults);

/* Runs all checks. What the user who runs them may not look at goes to
 * `warnings`. */
void config_check(const struct options *options, struct faults *faults,
                  struct faults *warnings);

/* Returns the origin (options.h) of a global option's value. */
int config_origin(const struct options *options, const char *name);

#endif
