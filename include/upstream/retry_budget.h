/*
 * retry_budget - how many requests may be tried once more.
 *
 * Retries are at most a fifth of the requests of the last ten seconds, and
 * three: they must not double the load on servers that are ill (as Finagle's
 * RetryBudget and Envoy's).
 *
 * Thread: one worker's.
 * Owns:   nothing but itself.
 */
#ifndef UPSTREAM_RETRY_BUDGET_H
#define UPSTREAM_RETRY_BUDGET_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    RETRY_BUDGET_SECONDS = 10,
    RETRY_BUDGET_SHARE = 5, /* one retry for so many requests */
    RETRY_BUDGET_FREE = 3 /* retries besides, however few requests there are */
};

/* All zero to begin with. */
struct retry_budget {
    uint64_t bucket_ends_ms;                 /* private, as all below */
    unsigned requests[RETRY_BUDGET_SECONDS]; /* a ring of seconds */
    unsigned retries[RETRY_BUDGET_SECONDS];
    unsigned at; /* the present one */
};

/* Notes a request; retries are none. */
void retry_budget_note_request(struct retry_budget *budget, uint64_t now_ms);

/* Takes a retry, if there is one left. */
MUST_USE bool retry_budget_take(struct retry_budget *budget, uint64_t now_ms);

#endif
