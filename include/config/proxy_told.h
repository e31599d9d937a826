/*
 * proxy_told - iterates over all proxies of a configuration: at the top level,
 * in sites, in locations. It visits each once, even if several places inherit
 * it.
 *
 *   struct proxy_told told = {.options = options};
 *
 *   while (proxy_told_next(&told))
 *       ...
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_PROXY_TOLD_H
#define CONFIG_PROXY_TOLD_H

#include "config/options.h"
#include "config/proxy_rule.h"

enum {
    /* The most bytes of each part of a proxy's name in reports. */
    PROXY_TOLD_SITE_MAX = 40,
    PROXY_TOLD_PATH_MAX = 200,
    PROXY_TOLD_LABEL_MAX = PROXY_TOLD_SITE_MAX + PROXY_TOLD_PATH_MAX + 8
};

struct proxy_told {
    const struct options *options;
    const struct texts *list; /* the list that has the proxy */
    const char *text;         /* the proxy, as it was written */
    /* The proxy's site; NULL if the proxy is at the top level. */
    const struct site_options *site;
    const struct site_location *location; /* the proxy's location, or NULL */
    /* Private: 0 for the top level, 1 for the first site. */
    size_t site_number;
    size_t location_number; /* private: 0 for the site itself */
    size_t item_number;     /* private: number of the next item */
};

/* Moves to the next proxy. Returns false if there are no more. */
MUST_USE bool proxy_told_next(struct proxy_told *told);

/* Parses the proxy's text. In a location, the location's path is the prefix.
 * Returns NULL if the text is valid, else an error message to append to it. */
const char *proxy_told_read(const struct proxy_told *told,
                            struct proxy_rule *rule);

/* Writes the proxy's name in reports, such as "/app" at the top level and
 * "SITE:/app" in a site, or "SITE:= /app" in an exact location. */
void proxy_told_name(const struct proxy_told *told,
                     const struct proxy_rule *rule,
                     char name_out[PROXY_TOLD_LABEL_MAX + 1]);

/* Returns the proxy's origin: its line, or an enum options_origin. */
int proxy_told_origin(const struct proxy_told *told);

#endif
