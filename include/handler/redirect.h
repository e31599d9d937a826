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
 * $1 to $9 are captures (base/glob.h), $path is the clean path, "$$" is a
 * dollar sign. Captures and $path are percent-encoded for the part of the
 * target where they stand, so that they cannot end that part: in a query they
 * stay one value. They are not allowed in scheme or authority. A target that
 * begins with '/', a capture or $path stays on this host, whatever is captured.
 * $scheme is "http" or "https" (http/scheme.h). $host is the request's name for
 * this server, without a port; a request that names no host gets 400. The
 * request's query is kept: it replaces $query, or else is put behind the
 * target's own query.
 *
 * A rule with SCHEME://$host$path as its target applies only to requests that
 * came by another scheme.
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
        /* The target has $query; otherwise the request's query is added. */
        bool says_query;
        /* If not empty, requests by this scheme are not redirected. */
        struct bytes from_other;
    } rules[REDIRECT_RULES_MAX];
};

/* Adds a rule to an object that was zeroed at first. `status` is 301, 302, 303,
 * 307, 308, or 0 for the default. The first rule that matches a path decides.
 * Refuses a target that its own rule would redirect for ever. Returns NULL, or
 * what is wrong: a message that the caller prints behind "redirect from ... to
 * ...". */
MUST_USE const char *redirect_rules_add(struct redirect_rules *rules,
                                        struct bytes from, struct bytes to,
                                        unsigned status);

/* Whether a rule redirects the clean path. */
MUST_USE bool redirect_leads(const struct redirect_rules *rules,
                             struct bytes clean);

/* Finds a redirect and makes the response from it, or answers 414 if the target
 * would be too long. Returns false if no rule applies. `trust` names the
 * proxies that may tell the client's scheme. */
MUST_USE bool redirect_answer(const struct redirect_rules *rules,
                              struct exchange *exchange, struct bytes clean,
                              const struct forwarded_trust *trust,
                              const struct server_defaults *defaults);

/* Redirects a client that asked by http to the same path and query by https, on
 * `port`. Returns false if the request came by https. */
MUST_USE bool redirect_to_https(struct exchange *exchange, struct bytes clean,
                                unsigned port,
                                const struct forwarded_trust *trust,
                                const struct server_defaults *defaults);

#endif
