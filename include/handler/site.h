/*
 * site - the options of one site: its hosts, its own values, and the values of
 * its locations.
 *
 * A location is a prefix of paths or, if is_exact is set, a single path. Of
 * several prefixes that fit a path, the longest counts. A path that fits no
 * location uses the site's own values. A host that fits no site uses the first
 * site without hosts, or else the first of all sites.
 *
 * Thread: any; values only, made by the main thread, unchanged afterwards.
 * Owns:   nothing: texts and lists lie in the configuration's arena.
 */
#ifndef HANDLER_SITE_H
#define HANDLER_SITE_H

#include "handler/location.h"

struct site_location {
    struct bytes path; /* clean; a prefix has no slash at its end, and the
                          prefix "" fits all paths */
    bool is_exact;
    struct location_options options;
};

struct site_options {
    const char *name; /* name in messages */
    /* "example.org", "*.example.org", "192.0.2.1" or "[2001:db8::1]", in lower
     * case, without port. Empty: the site is for hosts that no site names. */
    struct texts hosts;
    struct location_options options;
    struct site_location *locations;
    size_t location_count;
};

#endif
