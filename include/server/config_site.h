/*
 * config_site - what makes a site one: names, paths of its locations, and
 * that none of them is there twice or has nothing to do.
 *
 * Thread: the main thread's.
 * Owns:   nothing: names and paths lie in the arena.
 */
#ifndef SERVER_CONFIG_SITE_H
#define SERVER_CONFIG_SITE_H

#include "server/config_outline.h"

enum { CONFIG_HOSTS_MAX = 64 /* of one site */ };

/* Sets path and is_exact of a location from the title of its section: a clean
 * path, behind '=' an exact one. What cannot be one is a fault. False: no
 * memory. */
MUST_USE bool config_site_path(const struct config_section *section,
                               struct site_location *location,
                               struct arena *arena, struct faults *faults);

/* Adds a host, in lower case, to the site; or a fault. False: no memory. */
MUST_USE bool config_site_host(const struct config_section *section, int line,
                               const char *text, struct site_options *site,
                               struct arena *arena, struct faults *faults);

/* Finds hosts and locations that are there twice, and sites and locations
 * that have nothing to do. */
void config_site_check(const struct options *options, struct faults *faults);

#endif
