/*
 * proxy_rule - reads the values of --proxy and related options.
 *
 *   [PREFIX=]SERVER[,SERVER...]
 *
 *   SERVER   http://HOST[:PORT][/PATH]  or  unix:/SOCKET[:/PATH]
 *            https://HOST[:PORT][/PATH]  or  https://unix:/SOCKET[:/PATH]
 *            followed by any of  ;weight=N  ;backup  ;max-conns=N
 *
 * As in nginx, PATH replaces PREFIX in a request's path; without PATH, the
 * request's path does not change. All servers of a rule have the same PATH.
 *
 * Thread: any; values only.
 * Owns:   nothing. The results point into the text.
 */
#ifndef CONFIG_PROXY_RULE_H
#define CONFIG_PROXY_RULE_H

#include "handler/proxy/proxy.h"
#include "upstream/upstream.h"

enum {
    PROXY_RULE_SERVERS_MAX = BALANCE_SERVERS_MAX,
    PROXY_RULE_PATH_MAX = 1024,
    PROXY_RULE_NAME_MAX = 64, /* bytes of this server's name in Via */
    PROXY_RULE_CONNS_MAX = 1000000
};

struct proxy_rule_server {
    struct bytes name; /* "app:9000" or "unix:/run/app"; unique */
    struct bytes host; /* without brackets */
    uint16_t port;
    struct bytes socket;    /* path of a unix socket, or empty */
    struct bytes authority; /* the value of Host */
    unsigned weight;
    unsigned conns_max; /* open connections at most; 0: any number */
    bool is_backup;
    bool is_tls;
};

struct proxy_rule {
    struct bytes prefix; /* without a slash at its end; empty: all paths */
    bool has_prefix;     /* the text has a prefix */
    struct bytes path;   /* replaces the prefix; empty: paths do not change */
    size_t count;
    struct proxy_rule_server servers[PROXY_RULE_SERVERS_MAX];
};

/* The functions below return NULL if `text` is valid, else an error message to
 * append to `text`. */
const char *proxy_rule_read(struct proxy_rule *rule, struct bytes text);

/* Reads a text such as "least-conn" or "hash:X-User" into to->balance, to->hash
 * and to->hash_field. */
const char *proxy_rule_read_balance(struct proxy_options *to,
                                    struct bytes text);

/* Reads a range of statuses, such as "200-399", or a single one, such as
 * "204". */
const char *proxy_rule_read_statuses(struct bytes text, unsigned *min_out,
                                     unsigned *max_out);

#endif
