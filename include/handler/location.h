/*
 * location - what a place of a site is told to do: one set of values for what
 * can be said at the top of a configuration, in a site or in a location. What
 * is not said there is as in what it lies in.
 *
 * Thread: any; values only, made by the main thread, unchanged afterwards.
 * Owns:   nothing: texts and lists lie in the configuration's arena.
 */
#ifndef HANDLER_LOCATION_H
#define HANDLER_LOCATION_H

#include <stdint.h>

#include "base/cidr.h"
#include "base/texts.h"

struct location_options {
    const char *root;     /* what is below it is served by the whole path */
    const char *alias;    /* the same, by what is behind the location's */
    bool autoindex;       /* list directories that have no index */
    bool show_hidden;     /* serve names that begin with a dot */
    bool follow_symlinks; /* also those that lead out of the root */
    const char *cache_control;              /* field value; NULL: none */
    const struct cache_rules *cache_rules;  /* before that; NULL: none */
    const struct try_files *try_files;      /* NULL: the path is all */
    const struct head_edits *edits;         /* of every answer; or NULL */
    const struct error_pages *error_pages;  /* NULL: none */
    const struct redirect_rules *redirects; /* looked at first; or NULL */
    const struct cors *cors;                /* NULL: says nothing of it */
    const char *respond; /* this text answers instead of files; or NULL */
    uint64_t respond_status;
    const char *respond_type; /* NULL: plain text */
    struct cidrs allow;       /* if there are any, nobody else */
    struct cidrs deny;        /* not these, allowed or not */
    const char *auth_file;    /* htpasswd; NULL: no password is asked for */
    const char *auth_realm;
    struct htpasswd *htpasswd; /* that file, read */
    const char *rate_limit;    /* "10/s"; NULL: none */
    uint64_t rate_burst;
    struct rate_limit *limiter; /* of all that share rate_limit */
    uint64_t body_max;          /* bytes of a request's body */
};

#endif
