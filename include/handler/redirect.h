/*
 * redirect - sends clients elsewhere: patterns choose paths, and targets
 * contain what the pattern's wildcards matched.
 *
 *   /old/page          /new/page
 *   /blog-*            https://blog.example/$1
 *   /find-**           /search?q=$1#results
 *   **                 https://$host$path
 *   /login             $scheme://id.example/?to=$host&$query
 *
 * $1 to $9 are captures (base/glob.h), $path is the clean path, "$$" a dollar
 * sign. Captures and $path are percent-encoded for the part of the target where
 * they stand, so that they cannot end it: in a query they stay one value, and
 * they are not allowed in scheme or authority. A target that begins with '/', a
 * capture or $path stays on this host, whatever is captured. $scheme is "http"
 * or "https" (http/scheme.h), $host the request's name for this server, without
 * a port; a request without one gets 400. The request's query is kept: in the
 * place of $query, or else behind the target's.
 *
 * SCHEME://$host$path applies only to requests that came by another scheme.
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
        bool says_query;         /* has $query; else the query is added */
        struct bytes from_other; /* a scheme: not for requests by that one */
    } rules[REDIRECT_RULES_MAX];
};

/* Adds a rule to an object that was zeroed at first. status: 301, 302, 303,
 * 307, 308, or 0 for the default. The first rule that matches decides. Returns
 * NULL, or what is wrong, to be put behind "redirect from ... to ...". A target
 * that its own rule would redirect for ever is refused. */
MUST_USE const char *redirect_rules_add(struct redirect_rules *rules,
                                        struct bytes from, struct bytes to,
                                        unsigned status);

/* Whether a rule redirects the clean path. */
MUST_USE bool redirect_leads(const struct redirect_rules *rules,
                             struct bytes clean);

/* Finds a redirect and makes the response from it, or 414 if that would be too
 * long. False: no rule applies. trust: the proxies that may tell the client's
 * scheme. */
MUST_USE bool redirect_answer(const struct redirect_rules *rules,
                              struct exchange *exchange, struct bytes clean,
                              const struct forwarded_trust *trust,
                              const struct server_defaults *defaults);

/* Redirects a client that asked by http to the same path and query by https, on
 * port. False: the request came by https. */
MUST_USE bool redirect_to_https(struct exchange *exchange, struct bytes clean,
                                unsigned port,
                                const struct forwarded_trust *trust,
                                const struct server_defaults *defaults);

#endif
