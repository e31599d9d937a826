/*
 * site - what a configuration says of one site: its hosts, and what is told
 * to it as a whole and to its locations.
 *
 * A location is a prefix of the path (the longest that fits counts) or, when
 * it is exact, that path alone. What no location of a site fits, the site's
 * own values serve; what no site's hosts fit, the first site that has none, or
 * else the first of all.
 *
 * Thread: any; values only, made by the main thread, unchanged afterwards.
 * Owns:   nothing: texts and lists lie in the configuration's arena.
 */
#ifndef HANDLER_SITE_H
#define HANDLER_SITE_H

#include "handler/location.h"

struct site_location {
    struct bytes path; /* clean; a prefix has no slash at its end; "" is all */
    bool is_exact;
    struct location_options options;
};

struct site_options {
    const char *name; /* in messages */
    /* "example.org", "*.example.org", "192.0.2.1" or "[2001:db8::1]", in lower
     * case, without port; empty: whatever no other site has. */
    struct texts hosts;
    struct location_options options;
    struct site_location *locations;
    size_t location_count;
};

#endif
