/*
 * sites - all that one worker serves under one configuration: its sites, the
 * handler of each of their locations, and one cache for all files.
 *
 *   Host --> site --> path --> location --> its handler
 *
 * A configuration may be replaced while its answers are still being sent. Every
 * exchange holds a reference to the sites that answer it. The last reference
 * destroys the sites.
 *
 * Thread: one per worker; any thread may call sites_create(), before the worker
 *         gets the sites.
 * Owns:   handlers, cache, tables; what the options point to is borrowed until
 *         on_gone is called.
 */
#ifndef HANDLER_SITES_SITES_H
#define HANDLER_SITES_SITES_H

#include "auth/password_client.h"
#include "files/docroots.h"
#include "files/file_cache.h"
#include "handler/handler.h"
#include "handler/site.h"
#include "http/forwarded.h"

enum { SITES_MOUNTS_MAX = 16 };

/* A handler that answers below a prefix in every site. A mount is preferred to
 * a location of the same path, and decides itself who has access. */
struct mount {
    struct bytes prefix;
    struct handler handler;
    /* The part of a path below the prefix may be any bytes. So the mount is
     * found by the path as sent, before the path is cleaned or refused. */
    bool is_raw;
};

/* A proxy, which answers below a prefix, or in a location. The rules of its
 * site apply, and those of a location around the prefix. The proxy also answers
 * in locations below its prefix, unless these have handlers of their own. */
struct proxied {
    /* `items` of the list of servers from which the proxy was configured. A
     * place that inherits this list has the same `items`, and so the same
     * proxy. */
    const char *const *said_in;
    struct bytes prefix; /* for a location's proxy, the location's path */
    struct handler handler;
    struct handler uncached; /* the proxy without its cache, for places that
                                do not cache; if uncached.answer is NULL,
                                `handler` is used instead */
};

struct sites_options {
    const struct site_options *sites;
    size_t site_count; /* 0: `location` is used instead */
    /* Options used if there are no sites. */
    const struct location_options *location;
    const struct docroots *roots; /* all roots that the options name */
    struct file_cache_options cache;
    struct mount mounts[SITES_MOUNTS_MAX];
    size_t mount_count;
    const struct proxied *proxied; /* must outlive the sites */
    size_t proxied_count;
    struct handler status; /* answers in locations with status_page */
    struct forwarded_trust trust;
    struct encoder *encoder; /* borrowed from the worker */
    struct tls_table *tls;   /* held by the sites; NULL: no client uses TLS */
    uint16_t https_port;     /* port that https-redirect leads to */
    const char *challenges;  /* folder of challenge.h's files, or NULL */
    bool names_requests;     /* the log shows request ids: trace.h */
    struct password_client *client; /* the worker's; NULL: no passwords */
    /* Called by the last sites_release(), after it has destroyed the sites. May
     * be NULL. */
    void (*on_gone)(void *context);
    void *context;
};

struct sites; /* opaque; counted */

/* Returns the sites, with one reference for the caller. Returns NULL when there
 * is no memory; on_gone is not called then. */
MUST_USE struct sites *sites_create(const struct sites_options *options);
void sites_release(struct sites **sites_ref);

/* The handler answers all requests, by their Host and path; it ignores
 * `rest`. */
struct handler sites_handler(struct sites *sites);

/* Does what file_cache_tell_what_if() does, for the cache of these sites. */
void sites_tell_what_if(struct sites *sites, struct miniature_told *told_out);

struct file_cache_counts sites_count_files(const struct sites *sites);

#endif
