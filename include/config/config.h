/*
 * config - reads a configuration file into options.
 *
 *   key = value                 an option's long name; for all sites
 *   site "name" {
 *       hosts = {"example.org", "*.example.org"}
 *       root = /srv/example     for this site only
 *       location "/files" {     a prefix of the path; "= /x" is /x alone
 *           autoindex = yes
 *       }
 *   }
 *
 * A location inherits values from its site, and a site from the top level; a
 * list replaces an inherited list. ${NAME} is an environment variable. At the
 * top level, values of the command line override those of the file.
 *
 * Thread: the main thread's.
 * Owns:   nothing: what is read lies in the options' arena.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "config/faults.h"
#include "config/options.h"

/* Reads the file options->config into `options`, which already has the values
 * of the command line. All errors are added to `faults`; all valid values still
 * get into `options`. */
void config_load(struct options *options, struct faults *faults);

/* Like config_load(), but reads the configuration in `text`. Relative paths are
 * below `folder`. */
void config_read(struct options *options, struct bytes text, const char *folder,
                 struct faults *faults);

#endif
