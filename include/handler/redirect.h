/*
 * redirect - sends clients elsewhere: paths by pattern, targets with what the
 * pattern's wildcards took.
 *
 *   /old/page          /new/page
 *   /blog-*            https://blog.example/$1
 *   /find-**           /search?q=$1#results
 *   **                 https://$host$path
 *   /login             $scheme://id.example/?to=$host&$query
 *
 * $1 to $9 are captures (base/glob.h), "$$" is a dollar sign. $path is the
 * clean path; these are percent-encoded for the part of the target they get
 * into, so that none can end that part: a query's stays one value, and neither
 * comes into scheme or authority. What begins with '/', a capture or $path
 * stays on this host, whatever is captured. $scheme is "http" or "https"
 * (http/scheme.h), $host the name that the request has for this server, without
 * a port; a request without a name gets 400. The query of the request is kept:
 * where $query stands, or else behind that of the target.
 *
 * SCHEME://$host$path is only for requests that came by another scheme.
 *
 * Thread: rules are filled at start, then read only and shared by all.
 * Owns:   nothing; texts are borrowed.
 */
#ifndef HANDLER_REDIRECT_H
#define HANDLER_REDIRECT_H

#include "base/glob.h"
#include "http/exchange.h"
#include "http/scheme.h"

enum {
    REDIRECT_RULES_MAX = 64,
    REDIRECT_TARGET_MAX = 1000,
    REDIRECT_STATUS_DEFAULT = 308,
    REDIRECT_PORT_DEFAULT = 443
};

struct redirect_rules {
    size_t count;
    struct redirect_rule {
        struct glob from;
        struct bytes to;
        uint16_t status;
        bool says_query;         /* to has $query; else the query is added */
        struct bytes from_other; /* a scheme: for requests by another one */
    } rules[REDIRECT_RULES_MAX];
};

/* Adds a rule to an object that was all zero at first; status is one of 301,
 * 302, 303, 307, 308, or 0 for the default. The first that matches decides.
 * NULL, or what is wrong, as words to put behind "redirect from ... to ...". A
 * target that the same rule would send on for ever is refused. */
MUST_USE const char *redirect_rules_add(struct redirect_rules *rules,
                                        struct bytes from, struct bytes to,
                                        unsigned status);

/* Whether a rule leads from the clean path elsewhere. */
MUST_USE bool redirect_leads(const struct redirect_rules *rules,
                             struct bytes clean);

/* Finds the redirect and makes the response: the redirect, or 414 when it would
 * be too long to be sent. trust: the proxies that are believed what scheme
 * the client speaks. */
MUST_USE bool redirect_answer(const struct redirect_rules *rules,
                              struct exchange *exchange, struct bytes clean,
                              const struct forwarded_trust *trust,
                              const struct server_defaults *defaults);

/* Sends a client that has asked by http to the same path and query by https, on
 * port. False: the request has come by https. */
MUST_USE bool redirect_to_https(struct exchange *exchange, struct bytes clean,
                                unsigned port,
                                const struct forwarded_trust *trust,
                                const struct server_defaults *defaults);

#endif
