/*
 * location - what a place of a site is told to do: one set of values for what
 * can be said at the top of a configuration, in a site or in a location. What
 * is not said there is as in what it lies in; a list is said as a whole.
 *
 * Thread: any; values only, made by the main thread, unchanged afterwards.
 * Owns:   nothing: texts, lists and what is compiled of them lie in the
 *         configuration's arena; htpasswd and limiter are its generation's.
 */
#ifndef HANDLER_LOCATION_H
#define HANDLER_LOCATION_H

#include <stdint.h>

#include "base/cidr.h"
#include "base/texts.h"

struct redirect_rules;

struct location_options {
    /* What the location answers with. */
    const char *root;   /* what is below it is served by the whole path */
    bool strip_prefix;  /* or by what is behind the location's */
    bool status_page;   /* the statistics instead of files */
    const char *index;  /* of a directory */
    struct texts proxy; /* "PREFIX=SERVERS": config/proxy_rule.h */
    uint64_t cache;     /* whether what a proxy answers is kept */
    uint64_t cache_default_ms;
    uint64_t cache_stale_ms;
    struct texts cache_bypass; /* "cookie:NAME" and the like */
    struct texts cache_key;
    const char *respond; /* this text instead of files; NULL: files */
    uint64_t respond_status;
    const char *respond_type;  /* NULL: plain text */
    bool autoindex;            /* list directories that have no index */
    bool show_hidden;          /* serve names that begin with a dot */
    bool follow_symlinks;      /* also those that lead out of the root */
    const char *cache_control; /* field value; NULL: none */

    /* Patterns and values as the configuration says them. */
    struct texts cache_control_for;
    struct texts type;
    struct texts priority;
    struct texts try_list;
    struct texts error_page;
    struct texts redirect;
    struct texts header_set;
    struct texts header_add;
    struct texts header_remove;
    struct texts cors_origin;
    struct texts cors_method;
    struct texts cors_header;
    struct texts cors_expose;
    uint64_t cors_max_age_ms;
    bool cors_credentials;
    bool https_redirect; /* who comes by http is sent to https */

    /* What is compressed, as the configuration says it. */
    bool compress_proxied; /* answers of other servers, too, are compressed */
    /* Answers for one client alone, too, are compressed. */
    bool compress_private;
    struct texts compress;       /* codings, or off; none: all */
    struct texts compress_types; /* none: what shrinks */
    uint64_t compress_min;
    uint64_t compress_max;
    struct texts dictionary; /* of what clients have: dictionary_rules.h */

    /* Over TLS. They are a site's: all of its locations have them. */
    struct texts certificate;     /* files */
    bool certificate_is_managed;  /* the first is: managed.h of config */
    bool certificate_is_local;    /* some hosts get this machine's own */
    uint64_t acme;                /* whether it may be */
    struct texts certificate_key; /* of each; none: in the same files */
    const char *client_ca;        /* NULL: clients are not asked */
    uint64_t client_certificate;  /* enum tls_client */

    const char *hsts; /* field value, over https; NULL: none */

    /* Who may come, and how often. */
    struct cidrs allow;    /* if there are any, only these may come */
    struct cidrs deny;     /* these may not come: see cidrs_admit() */
    uint64_t body_max;     /* bytes of a request's body; 0: any */
    const char *auth_file; /* htpasswd; NULL: no password is asked for */
    const char *auth_realm;
    const char *rate_limit; /* "10/s"; NULL: none */
    uint64_t rate_burst;

    /* Compiled of the above by location_compile(); NULL: nothing said. */
    const struct cache_rules *cache_rules;
    const struct type_rules *type_rules;
    const struct priority_rules *priority_rules;
    const struct try_files *try_files;
    const struct compress_rules *compress_rules;
    const struct dictionary_rules *dictionary_rules;
    const struct head_edits *edits;
    const struct error_pages *error_pages;
    const struct redirect_rules *redirects;
    const struct cors *cors;
    const struct bytes *hsts_line; /* the field, and CRLF */

    /* The file of passwords, opened for this location. */
    struct htpasswd *htpasswd;
    struct rate_limit *limiter; /* of all that say the same rate_limit */
};

/* What is wrong with the value of an option, as words to put behind it. */
struct location_fault {
    const char *option; /* NULL: nothing */
    const char *words;
};

/* Compiles what is said in texts, when all of it is there. */
MUST_USE struct location_fault location_compile(
    struct location_options *location, struct arena *arena);

/* "PATTERN TARGET", "PATTERN TARGET STATUS": see redirect_rules_add(). */
MUST_USE const char *location_add_redirect(struct redirect_rules *rules,
                                           struct bytes text);

#endif
