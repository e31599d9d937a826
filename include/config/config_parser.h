/*
 * config_parser - makes the tree of sections from the files of a configuration:
 * keys with their values and lines.
 *
 * Unknown, misplaced and doubled keys, and errors of form, become faults; they
 * are left out of the tree, all else is in it.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the tree lies in the caller's arena.
 */
#ifndef CONFIG_CONFIG_PARSER_H
#define CONFIG_CONFIG_PARSER_H

#include "config/config_section.h"
#include "config/config_source.h"

/* Parses text of the first file, which lies in folder, with all that it
 * includes, and returns the top section; options get the names of the files.
 * NULL: no memory. */
MUST_USE struct config_section *config_parse(struct bytes text,
                                             const char *folder,
                                             struct options *options,
                                             struct arena *arena,
                                             struct faults *faults);

#endif
