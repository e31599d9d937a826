/*
 * config - the reading of a configuration file into options.
 *
 *   key = value                 the long name of an option: for all sites
 *   site "name" {
 *       hosts = {"example.org", "*.example.org"}
 *       root = /srv/example     what options say of files: for this site
 *       location "/files" {     a prefix of the path; "= /x" is /x alone
 *           autoindex = yes
 *       }
 *   }
 *
 * What is not said in a location is as in its site, and there as at the top;
 * a list that is said again replaces the other. ${NAME} is the environment's.
 * At the top, what was said on the command line stays.
 *
 * Thread: the main thread's.
 * Owns:   nothing: what is read lies in the options' arena.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "config/faults.h"
#include "config/options.h"

/* Reads the file that options->config names into options, which the command
 * line was read into. Adds to faults what is wrong, whatever it is; what is
 * right is in options even so, as far as it goes. */
void config_load(struct options *options, struct faults *faults);

/* Reads len bytes of text likewise. folder: what relative paths are below. */
void config_read(struct options *options, struct bytes text, const char *folder,
                 struct faults *faults);

#endif
