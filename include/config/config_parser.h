/*
 * config_parser - from the files of a configuration to the tree of its
 * sections: keys with their values and lines, and what they are sections of.
 *
 * All unknown, misplaced and doubled keys are told, and what is wrong with the
 * form; these are not in the tree, but the rest is.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the tree lies in the arena it is given.
 */
#ifndef CONFIG_CONFIG_PARSER_H
#define CONFIG_CONFIG_PARSER_H

#include "config/config_section.h"
#include "config/config_source.h"

/* The top, of the first file's text, which lies in folder, and of what it
 * includes; options are told which files that are. NULL: no memory. */
MUST_USE struct config_section *config_parse(struct bytes text,
                                             const char *folder,
                                             struct options *options,
                                             struct arena *arena,
                                             struct faults *faults);

#endif
