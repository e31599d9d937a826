/*
 * dictionaries - where versions of files are kept that clients have:
 * STATE/dictionaries, as soon as some place with files has a rule for them.
 *
 * Thread: the main thread's.
 * Owns:   nothing: all lies in the arena of the options.
 */
#ifndef CONFIG_DICTIONARIES_H
#define CONFIG_DICTIONARIES_H

#include "config/faults.h"
#include "config/options.h"

/* Finds the folder, once locations have been compiled. That there is no place
 * for it is a fault. */
void dictionaries_find(struct options *options, struct faults *faults);

#endif
