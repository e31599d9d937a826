/*
 * redirect - sends clients elsewhere: paths by pattern, targets with what the
 * pattern's wildcards took.
 *
 *   /old/page          /new/page
 *   /blog-*            https://blog.example/$1
 *   /find-**           /search?q=$1#results
 *
 * $1 to $9 are captures (base/glob.h), "$$" is a dollar sign. Captures come
 * from the clean path and are percent-encoded for the part of the target they
 * get into, so that none can end that part: a query's stays one value, and no
 * capture comes into scheme or authority. What begins with '/' or a capture
 * stays on this host, whatever is captured. The query of the request is kept:
 * behind that of the target, when it has its own.
 *
 * Thread: rules are filled at start, then read only and shared by all.
 * Owns:   nothing; texts are borrowed.
 */
#ifndef HANDLER_REDIRECT_H
#define HANDLER_REDIRECT_H

#include "base/glob.h"
#include "http/exchange.h"

enum {
    REDIRECT_RULES_MAX = 64,
    REDIRECT_TARGET_MAX = 1000,
    REDIRECT_STATUS_DEFAULT = 308
};

struct redirect_rules {
    size_t count;
    struct redirect_rule {
        struct glob from;
        struct bytes to;
        uint16_t status;
    } rules[REDIRECT_RULES_MAX];
};

/* One more rule, of an object that began as all zero; status is one of 301,
 * 302, 303, 307, 308, or 0 for the default. The first that matches decides.
 * NULL, or what is wrong, as words to put behind "redirect from ... to ...". A
 * target that the same rule would send on for ever is refused. */
MUST_USE const char *redirect_rules_add(struct redirect_rules *rules,
                                        struct bytes from, struct bytes to,
                                        unsigned status);

/* Whether a rule leads from the clean path elsewhere; then the response is
 * made: the redirect, or 414 when it would be too long to be sent. */
MUST_USE bool redirect_answer(const struct redirect_rules *rules,
                              struct exchange *exchange, struct bytes clean,
                              const struct response_style *style);

#endif
