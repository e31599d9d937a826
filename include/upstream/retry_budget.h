/*
 * retry_budget - limits how many requests are retried.
 *
 * At most a fifth of the requests of the last ten seconds, plus three, may be
 * retries, since retries must not double the load on failing servers (as in
 * Finagle's RetryBudget and Envoy's).
 *
 * Thread: a budget belongs to one worker.
 * Owns:   nothing but itself.
 */
#ifndef UPSTREAM_RETRY_BUDGET_H
#define UPSTREAM_RETRY_BUDGET_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    RETRY_BUDGET_SECONDS = 10,
    RETRY_BUDGET_SHARE = 5, /* one retry for each five requests */
    RETRY_BUDGET_FREE = 3   /* retries allowed even without requests */
};

/* The caller zeroes the struct at first. */
struct retry_budget {
    /* private, like all fields below */
    uint64_t bucket_ends_ms;
    unsigned requests[RETRY_BUDGET_SECONDS]; /* ring, by second */
    unsigned retries[RETRY_BUDGET_SECONDS];
    unsigned at; /* index of the present second */
};

/* Counts a request when it is tried first; its retries are not counted here. */
void retry_budget_note_request(struct retry_budget *budget, uint64_t now_ms);

/* Takes a retry from the budget. Returns false if no retry is left. */
MUST_USE bool retry_budget_take(struct retry_budget *budget, uint64_t now_ms);

#endif
