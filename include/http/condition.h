/*
 * condition - preconditions of a request against the validators of the
 * representation it selects (RFC 9110 13).
 *
 * Thread: any; no state.
 */
#ifndef HTTP_CONDITION_H
#define HTTP_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "http/request.h"

struct validators {
    struct bytes etag; /* with its quotes, as sent; empty when there is none */
    int64_t modified;  /* seconds since the epoch; INT64_MIN: unknown */
    /* Other representations of the same resource have the same date, so that
     * the date does not tell which of them a client has. */
    bool is_date_shared;
};

enum condition_verdict {
    CONDITION_PROCEED,
    CONDITION_NOT_MODIFIED, /* 304; for GET and HEAD only */
    CONDITION_FAILED        /* 412 */
};

/* Evaluates If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since
 * in the order of precedence of RFC 9110 13.2.2. If-Match compares strongly,
 * If-None-Match weakly; "*" matches, since `current` exists. Malformed lists
 * match nothing. Malformed dates are ignored, and so is a date that comes
 * twice. If-Modified-Since counts for GET and HEAD only. A failed
 * If-None-Match is CONDITION_NOT_MODIFIED for GET and HEAD, CONDITION_FAILED
 * otherwise. `now`: seconds since the epoch. */
enum condition_verdict condition_evaluate(const struct request *request,
                                          const struct validators *current,
                                          int64_t now);

/* Whether the Range field may be honoured: there is no If-Range, or exactly one
 * that matches `current`. An ETag must match strongly, a date exactly. The date
 * must also be a strong validator (RFC 9110 13.1.5): no other representation
 * has it, and it is at least one second older than `now`. */
bool condition_range_applies(const struct request *request,
                             const struct validators *current, int64_t now);

#endif
