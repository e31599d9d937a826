/*
 * dictionaries - the folder for old versions of files that clients may have:
 * STATE/dictionaries, if any location with files has a rule for them.
 *
 * Thread: the main thread's.
 * Owns:   nothing: all lies in the arena of the options.
 */
#ifndef CONFIG_DICTIONARIES_H
#define CONFIG_DICTIONARIES_H

#include "config/faults.h"
#include "config/options.h"

/* Finds the folder, after locations were compiled. If there is none, that is a
 * fault. */
void dictionaries_find(struct options *options, struct faults *faults);

#endif
