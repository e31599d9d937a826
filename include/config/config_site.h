/*
 * config_site - checks sites: the names of their hosts, the paths of their
 * locations, duplicates, and sites or locations with nothing to do.
 *
 * Thread: the main thread's.
 * Owns:   nothing: names and paths lie in the arena.
 */
#ifndef CONFIG_CONFIG_SITE_H
#define CONFIG_CONFIG_SITE_H

#include "config/config_section.h"

enum { CONFIG_HOSTS_MAX = 100 /* hosts of a site */ };

/* Reads the title of a location's section, which must be a clean path, into
 * location->path. location->is_exact becomes true if '=' precedes the path. An
 * invalid title is a fault. Returns false if there is no memory. */
MUST_USE bool config_site_path(const struct config_section *section,
                               struct site_location *location,
                               struct arena *arena, struct faults *faults);

/* Adds the host in `text` to a site, in lower case; an invalid host is a fault.
 * Returns false if there is no memory. */
MUST_USE bool config_site_host(const struct config_section *section, int line,
                               const char *text, struct site_options *site,
                               struct arena *arena, struct faults *faults);

/* Whether the site is the unnamed one that holds the top-level locations of a
 * file without sites. */
static inline bool config_is_top(const struct site_options *site)
{
    return site->name[0] == '\0';
}

enum { CONFIG_WORDS_MAX = 200 };

/* Writes the beginning of a message. If `location` is NULL, the message is
 * about the site: 'site "x": '. Otherwise it is about the location: 'site "x":
 * location "/y": ', or only 'location "/y": ' for a location at the top
 * level. */
void config_words(char words_out[CONFIG_WORDS_MAX + 1],
                  const struct site_options *site,
                  const struct site_location *location);

/* Whether the top level, or a mount, serves anything other than files. */
bool config_has_other_task(const struct options *options);

/* Whether the server may ever speak TLS, to clients or to other servers. With a
 * configuration file, it always may: a reload may find TLS in the file. */
bool config_may_speak_tls(const struct options *options);

/* Reports duplicate hosts and locations, and sites and locations with nothing
 * to do. */
void config_site_check(const struct options *options, struct faults *faults);

#endif
