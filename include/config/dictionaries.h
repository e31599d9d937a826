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

/* Finds the folder and sets it in options, whose locations were compiled
 * before. If it is needed and there is none, this is a fault. */
void dictionaries_find(struct options *options, struct faults *faults);

#endif
