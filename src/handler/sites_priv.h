/*
 * sites_priv - what the two files of sites share: sites.c, which answers, and
 * sites_make.c, which furnishes them.
 */
#ifndef HANDLER_SITES_PRIV_H
#define HANDLER_SITES_PRIV_H

#include "handler/guard.h"
#include "handler/hosts.h"
#include "handler/respond.h"
#include "handler/router.h"
#include "handler/sites.h"
#include "handler/static_files.h"
#include "http/http1.h"

/* A location, or what a site does elsewhere. */
struct place {
    struct handler handler;
    const struct location_options *options;
    struct static_files *files; /* what it serves, or its error pages */
    struct respond *respond;    /* or says; NULL: it does not */
    bool is_plain;              /* there is nothing but the handler */
};

struct site {
    struct place place; /* where no route leads */
    struct router router;
};

struct sites {
    struct sites_options options;
    unsigned refs;
    struct arena arena;
    struct file_cache *cache;
    struct guard guard;
    struct hosts hosts;
    struct site_options all; /* when there are no sites */
    struct site *first;      /* for hosts that nobody has */
    struct site *only;       /* the only one, if it has no routes; else NULL */
    struct place **places;   /* all of them, ... */
    size_t place_count;      /* ... but for mounts */
    struct place mounts[SITES_MOUNTS_MAX];
    char path[HTTP1_LINE_BYTES_MAX]; /* the clean form of what is asked for */
};

static inline const struct response_style *sites_style(const struct sites
                                                           *sites)
{
    return &sites->options.cache.style;
}

/* Answers an exchange that has been asked for its password; see guard.h. */
void sites_resume(void *sites, struct exchange *exchange, bool is_admitted);

#endif
