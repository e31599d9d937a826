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
 * A location inherits from its site, and a site from the top; a list replaces
 * an inherited list. ${NAME} is a variable of the environment. At the top, the
 * command line overrides the file.
 *
 * Thread: the main thread's.
 * Owns:   nothing: what is read lies in the options' arena.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "config/faults.h"
#include "config/options.h"

/* Reads the file that options->config names into options, which the command
 * line has filled. Adds whatever is wrong to faults; everything right still
 * gets into options. */
void config_load(struct options *options, struct faults *faults);

/* Reads text likewise. Relative paths are below folder. */
void config_read(struct options *options, struct bytes text, const char *folder,
                 struct faults *faults);

#endif
