/*
 * sites_priv - what the files of sites share. Each calls only those below it:
 *
 *   sites.c          answers
 *   sites_make.c     makes the places
 *   sites_proxied.c  which proxy answers where
 *   sites_pages.c    their pages for errors
 *   sites_admit.c    who may come
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

/* A location, or what a site does elsewhere. */
struct place {
    struct handler handler;
    const struct location_options *options;
    struct sites *sites;
    struct site *site;          /* NULL: a mount of all sites */
    struct static_files *files; /* what it serves, or its error pages */
    struct respond *respond;    /* or says; NULL: it does not */
    bool is_plain;              /* there is nothing but the handler */
    bool is_proxied;            /* other servers read the path, too */
    struct bytes prefix;        /* of the paths that lead there */
    struct encode encode;       /* of what is passed on; zeroed: none */
    struct error_source errors; /* has is NULL: it has no pages */
};

/* What has become of the passwords an exchange has waited for. */
struct admission {
    const struct htpasswd *asked; /* NULL: it has not waited */
    enum password_verdict verdict;
};

struct site {
    struct place place; /* where no route leads */
    struct router router;
    bool has_locations;
    uint64_t number; /* of its hosts: the same after a restart */
};

struct sites {
    struct sites_options options;
    unsigned refs;
    struct arena arena;
    struct file_cache *cache;
    struct guard guard;
    struct trace trace;
    struct hosts hosts;
    struct site_options all; /* when there are no sites */
    struct site *first;      /* for hosts that no site has */
    bool asks_clients;       /* some site asks its clients for certificates */
    struct site *only;       /* the only one, if it has no routes; else NULL */
    struct place **places;   /* all places but the mounts */
    size_t place_count;
    struct place mounts[SITES_MOUNTS_MAX];
    struct admission admission; /* of the exchange that is being answered */
    char path[HTTP1_LINE_BYTES_MAX]; /* the clean form of what is asked for */
};

static inline const struct server_defaults *sites_defaults(const struct sites
                                                               *sites)
{
    return &sites->options.cache.defaults;
}

/* The mount of bytes that are no path; NULL: none, and raw is to be cleaned. */
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

/* The place for a clean path of that site; *rest_out as of router_find(). */
static inline struct place *site_find(struct site *site, struct bytes clean,
                                      struct bytes *rest_out)
{
    const struct route *route = router_find(&site->router, clean, rest_out);

    if (!route)
        *rest_out = clean;
    return route ? route->place : &site->place;
}

/* --- sites_make.c -------------------------------------------------------- */

/* sites_create(), with what answers an exchange that has been asked for its
 * password; see guard.h. */
MUST_USE struct sites *sites_make(const struct sites_options *options,
                                  guard_fn resume);

/* --- sites_proxied.c ----------------------------------------------------- */

/* Whether the list is the one that the proxy is told in. */
bool sites_names_proxied(const struct proxied *proxied,
                         const struct texts *list);

/* How many proxies the site itself has. */
size_t sites_count_proxied(const struct sites *sites,
                           const struct site_options *site);

/* The location with the longest path that path lies in, of all or of those that
 * say a proxy; or NULL. */
const struct site_location *sites_find_around(const struct site_options *site,
                                              struct bytes path,
                                              bool has_proxy);

/* The proxy that answers at a location; NULL: none does. */
const struct proxied *sites_proxied_of(const struct sites *sites,
                                       const struct site_options *site,
                                       const struct site_location *location);

/* --- sites_pages.c ------------------------------------------------------- */

/* The pages for errors of a place that has some. */
struct error_source place_error_source(void);

/* --- sites_admit.c: who may come where ----------------------------------- */

/* Whether exchange's address may come to place now; else it has been
 * answered. */
bool place_takes(const struct place *place, struct exchange *exchange);

/* Whether who asks may come, by address and password; the exchange may wait. */
bool place_admits(const struct place *place, struct exchange *exchange);

/* Whether the exchange's body is too large for the place, as far as is known.
 */
bool place_is_overfull(const struct place *place,
                       const struct exchange *exchange);

/* Whether the body is not too large; otherwise the exchange has been answered.
 */
bool place_takes_body(const struct place *place, struct exchange *exchange);

/* Judges what is sent by place, and may be below the path of another. */
struct file_judge place_judge(struct place *place);

/* Whether exchange's address may have what place sends by that path unasked,
 * such as a page for an error: place itself may have denied it. */
bool place_shows(const struct place *place, const struct exchange *exchange,
                 struct bytes path);

/* Whether the server behind place may read the path as one that does not lead
 * to it, or to which stricter rules apply than to place. */
bool place_is_misread(const struct place *place, struct bytes raw,
                      struct bytes clean);

#endif
