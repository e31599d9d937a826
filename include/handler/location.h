/*
 * location - the options of a location: one set of values for everything that
 * can be set at the top of a configuration, in a site or in a location. A value
 * that is not set is inherited. A list is inherited or replaced as a whole.
 *
 * Thread: any; values only, made by the main thread, unchanged afterwards.
 * Owns:   nothing. Texts, lists and everything compiled from them lie in the
 *         configuration's arena; htpasswd and limiter belong to the
 *         configuration's generation.
 */
#ifndef HANDLER_LOCATION_H
#define HANDLER_LOCATION_H

#include <stdint.h>

#include "base/cidr.h"
#include "base/texts.h"

struct redirect_rules;

struct location_options {
    /* What the location answers with. */
    const char *root;   /* folder in which the whole path names a file */
    bool strip_prefix;  /* find files by the rest of the path, behind the
                           location's own path */
    bool status_page;   /* answer with the statistics instead of files */
    const char *index;  /* name of a directory's index */
    struct texts proxy; /* "PREFIX=SERVERS": config/proxy_rule.h */
    uint64_t cache;     /* whether a proxy's replies are cached */
    uint64_t cache_default_ms;
    uint64_t cache_stale_ms;
    struct texts cache_bypass; /* requests with these, such as "cookie:NAME",
                                  skip the cache */
    struct texts cache_key;
    const char *respond; /* text sent instead of files, or NULL */
    uint64_t respond_status;
    const char *respond_type;  /* value of Content-Type; NULL: text/plain */
    bool autoindex;            /* list directories that have no index */
    bool show_hidden;          /* serve names that begin with a dot */
    bool follow_symlinks;      /* follow even links that lead out of the root */
    const char *cache_control; /* field value; NULL: no field */

    /* Each text is a pattern and a value, as in the configuration. */
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
    bool https_redirect; /* redirect clients from http to https */

    /* What is compressed, as in the configuration. */
    bool compress_proxied; /* compress other servers' answers, too */
    /* Compress answers for a single client, too. */
    bool compress_private;
    struct texts compress;       /* codings, or "off"; empty: all codings */
    struct texts compress_types; /* empty: all types that shrink */
    uint64_t compress_min;
    uint64_t compress_max;
    struct texts dictionary; /* see dictionary_rules.h */

    /* Values for TLS. All locations of a site have the same ones. */
    struct texts certificate;     /* names of files */
    bool certificate_is_managed;  /* the server gets the first file itself
                                     (config/certificates/managed.h) */
    bool certificate_is_local;    /* this machine's authority certifies hosts */
    uint64_t acme;                /* whether the server may get certificates */
    struct texts certificate_key; /* names of files; empty: the files with the
                                     certificates have the keys, too */
    const char *client_ca; /* NULL: clients are asked for no certificate */
    uint64_t client_certificate; /* enum tls_client */

    const char *hsts; /* field value sent over https; NULL: no field */

    /* Who has access, and how often. */
    struct cidrs allow;    /* if not empty: only these addresses have access */
    struct cidrs deny;     /* these addresses have none: see cidrs_admit() */
    uint64_t body_max;     /* most bytes of a request's body; 0: no limit */
    const char *auth_file; /* htpasswd file; NULL: no password is needed */
    const char *auth_realm;
    const char *rate_limit; /* written like "10/s"; NULL: no limit */
    uint64_t rate_burst;

    /* Compiled by location_compile() from the values above. NULL: not set. */
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
    const struct bytes *hsts_line; /* the complete line, with CRLF */

    /* The users of auth_file, opened for this location. */
    struct htpasswd *htpasswd;
    /* Shared by all locations with the same rate_limit. */
    struct rate_limit *limiter;
};

/* A fault of an option's value: a message that the caller prints behind the
 * value. */
struct location_fault {
    const char *option; /* NULL: nothing is wrong */
    const char *words;
};

/* Compiles the texts, all of which the caller has set before. Returns the first
 * fault; its `option` is NULL if there is none. */
MUST_USE struct location_fault location_compile(
    struct location_options *location, struct arena *arena);

/* Adds the rule that `text` spells: "PATTERN TARGET" or "PATTERN TARGET
 * STATUS". Returns NULL, or what is wrong, as redirect_rules_add() does. */
MUST_USE const char *location_add_redirect(struct redirect_rules *rules,
                                           struct bytes text);

#endif
