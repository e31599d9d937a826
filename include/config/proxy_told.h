/*
 * proxy_told - goes through all proxies of a configuration: at the top, in
 * sites, in locations; each once, however many places inherit it.
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
    /* Parts of a proxy's name in reports. */
    PROXY_TOLD_SITE_MAX = 40,
    PROXY_TOLD_PATH_MAX = 200,
    PROXY_TOLD_LABEL_MAX = PROXY_TOLD_SITE_MAX + PROXY_TOLD_PATH_MAX + 8
};

struct proxy_told {
    const struct options *options;
    const struct texts *list;             /* the list that has the proxy */
    const char *text;                     /* the proxy, as it was written */
    const struct site_options *site;      /* its site; NULL: at the top */
    const struct site_location *location; /* its location; NULL: none */
    size_t site_number;                   /* private: 0 top, 1 the first site */
    size_t location_number; /* private: 0 is the site, 1 the first inside */
    size_t item_number;     /* private: number of the next item */
};

/* Goes on to the next proxy. False: that was the last. */
MUST_USE bool proxy_told_next(struct proxy_told *told);

/* Reads the proxy's text; in a location, the prefix is the location's path.
 * Returns NULL, or what is wrong, to be put behind the text. */
const char *proxy_told_read(const struct proxy_told *told,
                            struct proxy_rule *rule);

/* The proxy's name in reports: "/app", "SITE:/app", "SITE:= /app". */
void proxy_told_name(const struct proxy_told *told,
                     const struct proxy_rule *rule,
                     char name_out[PROXY_TOLD_LABEL_MAX + 1]);

/* Returns the proxy's line, or another enum options_origin. */
int proxy_told_origin(const struct proxy_told *told);

#endif
