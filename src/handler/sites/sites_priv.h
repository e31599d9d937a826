/*
 * sites_priv - shared by the files of sites. Each file calls only files below
 * it:
 *
 *   sites.c          answers requests
 *   sites_make.c     makes the places
 *   sites_proxied.c  which proxy answers which path
 *   sites_pages.c    the places' pages for errors
 *   sites_admit.c    who has access
 */
#ifndef HANDLER_SITES_SITES_PRIV_H
#define HANDLER_SITES_SITES_PRIV_H

#include "handler/guard.h"
#include "handler/handler.h"
#include "handler/hosts.h"
#include "handler/respond.h"
#include "handler/router.h"
#include "handler/sites/sites.h"
#include "handler/static_files.h"
#include "http/http1/http1.h"
#include "http/trace.h"

struct site;

/* A location, or the part of a site outside its locations, with its handler. */
struct place {
    struct handler handler;
    const struct location_options *options;
    struct sites *sites;
    struct site *site;          /* NULL: a mount, which all sites have */
    struct static_files *files; /* sends files, or only the error pages */
    struct respond *respond;    /* the place's fixed answer, or NULL */
    bool is_plain;              /* the place has no rules, only a handler */
    bool is_proxied;            /* a proxy answers: its server also interprets
                                   the path */
    struct bytes prefix;        /* prefix of the paths that lead here */
    struct encode encode;       /* compression of proxied answers, or zeroed */
    struct error_source errors; /* the error pages; `has` is NULL without any */
};

/* The result of a password check for which an exchange has waited. */
struct admission {
    const struct htpasswd *asked; /* file of the check; NULL: no check */
    enum password_verdict verdict;
};

struct site {
    struct place place; /* answers paths without a route */
    struct router router;
    bool has_locations;
    uint64_t number; /* made from its hosts, and so the same after a restart */
};

struct sites {
    struct sites_options options;
    unsigned refs;
    struct arena arena;
    struct file_cache *cache;
    struct guard guard;
    struct trace trace;
    struct hosts hosts;
    struct site_options all; /* options used if there are no sites */
    struct site *first;      /* the site for unknown hosts */
    bool asks_clients;       /* some site asks its clients for certificates */
    struct site *only;       /* the only site, if it has no routes; or NULL */
    struct place **places;   /* all places but the mounts */
    size_t place_count;
    struct place mounts[SITES_MOUNTS_MAX];
    struct admission admission; /* admission of the exchange being answered */
    char path[HTTP1_LINE_BYTES_MAX]; /* the clean path of the present request */
};

static inline const struct server_defaults *sites_defaults(const struct sites
                                                               *sites)
{
    return &sites->options.cache.defaults;
}

/* Returns the raw mount (see struct mount) whose prefix the path `raw` has.
 * Returns NULL if there is none; then the caller cleans the path. */
static inline struct place *sites_find_raw(struct sites *sites,
                                           struct bytes raw)
{
    for (size_t i = 0; i < sites->options.mount_count; i++) {
        const struct mount *mount = &sites->options.mounts[i];

        if (mount->is_raw && path_leads(mount->prefix, raw))
            return &sites->mounts[i];
    }
    return NULL;
}

/* Returns the site's place for a clean path. Sets *rest_out as router_find()
 * does, or to the whole path if the path has no route. */
static inline struct place *site_find(struct site *site, struct bytes clean,
                                      struct bytes *rest_out)
{
    const struct route *route = router_find(&site->router, clean, rest_out);

    if (!route)
        *rest_out = clean;
    return route ? route->place : &site->place;
}

/* --- sites_make.c -------------------------------------------------------- */

/* Makes the sites. `resume` answers an exchange after its password was checked
 * (guard.h). */
MUST_USE struct sites *sites_make(const struct sites_options *options,
                                  guard_fn resume);

/* --- sites_proxied.c ----------------------------------------------------- */

/* Whether the proxy was named in `list`. */
bool sites_names_proxied(const struct proxied *proxied,
                         const struct texts *list);

/* Returns how many proxies the site itself has. */
size_t sites_count_proxied(const struct sites *sites,
                           const struct site_options *site);

/* Returns the location that contains `path` and, among several such locations,
 * has the longest path. If has_proxy is set, only locations with a proxy count.
 * Returns NULL if there is none. */
const struct site_location *sites_find_around(const struct site_options *site,
                                              struct bytes path,
                                              bool has_proxy);

/* Returns the proxy that answers at a location, or NULL. */
const struct proxied *sites_proxied_of(const struct sites *sites,
                                       const struct site_options *site,
                                       const struct site_location *location);

/* --- sites_pages.c ------------------------------------------------------- */

/* Returns the error source of a place that has pages for errors. */
struct error_source place_error_source(void);

/* --- sites_admit.c: who has access to what ------------------------------- */

/* Returns whether the exchange's address has access to `place` now. If it has
 * not, the exchange was answered. */
bool place_takes(const struct place *place, struct exchange *exchange);

/* Returns whether the asker has access, by address and password. If not, the
 * exchange was answered, or has to wait. */
bool place_admits(const struct place *place, struct exchange *exchange);

/* Whether the body's length, if known, is too large for the place. */
bool place_is_overfull(const struct place *place,
                       const struct exchange *exchange);

/* Returns whether the body is not too large. If it is, the exchange was
 * answered. */
bool place_takes_body(const struct place *place, struct exchange *exchange);

/* Returns a judge of the files that `place` sends. A file may be below the path
 * of another place. */
struct file_judge place_judge(struct place *place);

/* Returns true if the exchange's address may get the file at `path`. The client
 * has not asked for this file: `place` sends it, for example as an error page.
 * So the address may be one that `place` has denied. */
bool place_shows(const struct place *place, const struct exchange *exchange,
                 struct bytes path);

/* Returns true if the server behind `place` may read the path as another path.
 * The other path leads out of `place`, or to a place with stricter rules. Also
 * returns true for a long path that can be read in many ways. */
bool place_is_misread(const struct place *place, struct bytes raw,
                      struct bytes clean);

#endif
