/*
 * dictionaries - the folder for old versions of files that clients may still
 * have (STATE/dictionaries). It is needed if a location with files has a rule
 * for dictionaries.
 *
 * Thread: the main thread's.
 * Owns:   nothing: all lies in the arena of the options.
 */
#ifndef CONFIG_DICTIONARIES_H
#define CONFIG_DICTIONARIES_H

#include "config/faults.h"
#include "config/options.h"

/* Sets options->dictionary_folder if a location needs the folder. The locations
 * must have been compiled before. A needed folder that has no path is a
 * fault. */
void dictionaries_find(struct options *options, struct faults *faults);

#endif
