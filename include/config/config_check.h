/*
 * config_check - looks whether what options name is there, as --test does:
 * without root, without DNS, and without taking a port.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_CONFIG_CHECK_H
#define CONFIG_CONFIG_CHECK_H

#include "config/faults.h"
#include "config/options.h"

/* Adds to faults what it finds, each with the line it is from. A new one goes
 * into the list in config_check.c. */
typedef void (*config_check_fn)(const struct options *options,
                                struct faults *faults);

void config_check(const struct options *options, struct faults *faults);

/* The origin (options.h) of the value of an option that all share. */
int config_origin(const struct options *options, const char *name);

#endif
