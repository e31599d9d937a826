/*
 * sites - all that one worker serves under one configuration: its sites, what
 * answers in each of their locations, and one cache for the files of them all.
 *
 *   Host --> site --> path --> location --> its handler
 *
 * A configuration is followed by another while its answers are still being
 * sent: every exchange holds a reference to the sites that answer it, and the
 * last one ends them.
 *
 * Thread: one per worker; sites_create() any, before the worker knows it.
 * Owns:   handlers, cache, tables. What options point to is borrowed until
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

/* What answers below a prefix in every site. It comes before a location of the
 * same path, and asks itself who may come. */
struct mount {
    struct bytes prefix;
    struct handler handler;
    /* What is below is no path but any bytes: it is found by the path as it
     * came, before that is cleaned or refused. */
    bool is_raw;
};

/* What answers below a prefix, or in a location, whose options have it in their
 * list of proxies. What is told to its site, or to a location there that it
 * lies in, counts for it; and it answers in locations that lie in it, unless
 * they say themselves what answers. */
struct proxied {
    /* The items of the list that names it: a place with the same list,
     * inherited, has the same proxy. */
    const char *const *said_in;
    struct bytes prefix; /* of a location: its path */
    struct handler handler;
    struct handler uncached; /* for places that are told to be so; answer is
                                NULL: that is all the same */
};

struct sites_options {
    const struct site_options *sites;
    size_t site_count;                       /* 0: only this: */
    const struct location_options *location; /* for all hosts and paths */
    const struct docroots *roots;            /* all that these name */
    struct file_cache_options cache;
    struct mount mounts[SITES_MOUNTS_MAX];
    size_t mount_count;
    const struct proxied *proxied; /* as long as the sites live */
    size_t proxied_count;
    struct handler status; /* where a location is told so */
    struct forwarded_trust trust;
    struct encoder *encoder; /* the worker's */
    struct tls_table *tls;   /* held by the sites; NULL: nobody comes
                                       over TLS */
    uint16_t https_port;     /* where https-redirect leads */
    const char *challenges;  /* a folder: challenge.h; NULL: there is none */
    bool names_requests;     /* where the log tells it: trace.h */
    struct password_client *client; /* the worker's; NULL: nobody needs it */
    void (*wake)(void *context);    /* has what is pending looked at again */
    void *wake_context;
    /* May be NULL. On the worker's thread, or by sites_release(). */
    void (*on_gone)(void *context);
    void *context;
};

struct sites; /* opaque; counted */

/* One reference, the caller's. NULL: no memory; on_gone is not called. */
MUST_USE struct sites *sites_create(const struct sites_options *options);
void sites_release(struct sites **sites_ref);

/* Answers whatever comes, by its Host and path; rest is not looked at. */
struct handler sites_handler(struct sites *sites);

/* See file_cache_tell_what_if(). */
void sites_tell_what_if(struct sites *sites, struct miniature_told *told_out);

struct file_cache_counts sites_count_files(const struct sites *sites);

#endif
