/*
 * config_site - what makes a site one: names, paths of its locations, and
 * that none of them is there twice or has nothing to do.
 *
 * Thread: the main thread's.
 * Owns:   nothing: names and paths lie in the arena.
 */
#ifndef CONFIG_CONFIG_SITE_H
#define CONFIG_CONFIG_SITE_H

#include "config/config_section.h"

enum { CONFIG_HOSTS_MAX = 100 /* of one site */ };

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

/* Whether site is not written as one: it has the locations that stand at the
 * top of a file without sites. */
static inline bool config_is_top(const struct site_options *site)
{
    return site->name[0] == '\0';
}

enum { CONFIG_WORDS_MAX = 200 };

/* What a message on a site or its location, or NULL, begins with: 'site "x":
 * location "/y": '. Nothing where site is NULL; of locations at the top there
 * is no site. */
void config_words(char words_out[CONFIG_WORDS_MAX + 1],
                  const struct site_options *site,
                  const struct site_location *location);

/* Whether more than files is told to be served at the top, or everywhere. */
bool config_has_other_task(const struct options *options);

/* Whether TLS may ever be spoken, to clients or to other servers. A file of
 * settings may say so when it is read again. */
bool config_may_speak_tls(const struct options *options);

/* Finds hosts and locations that are there twice, and sites and locations
 * that have nothing to do. */
void config_site_check(const struct options *options, struct faults *faults);

#endif
