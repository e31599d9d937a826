/*
 * config_parser - parses the files of a configuration into a tree of sections,
 * which hold keys with their values and lines.
 *
 * Syntax errors and unknown, misplaced and duplicate keys become faults and are
 * left out of the tree; everything else is in it.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the tree lies in the caller's arena.
 */
#ifndef CONFIG_CONFIG_PARSER_H
#define CONFIG_CONFIG_PARSER_H

#include "config/config_section.h"
#include "config/config_source.h"

/* Parses the first file and all files that it includes. `text` is the first
 * file's content, and `folder` is the folder in which it lies. The names of the
 * files get into `options`. Returns the top section, or NULL if there is no
 * memory. */
MUST_USE struct config_section *config_parse(struct bytes text,
                                             const char *folder,
                                             struct options *options,
                                             struct arena *arena,
                                             struct faults *faults);

#endif
