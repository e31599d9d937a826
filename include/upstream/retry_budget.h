/*
 * retry_budget - limits how many requests are retried.
 *
 * In ten seconds, one retry is allowed for each five requests, and three more
 * are always allowed. Unlimited retries would double the load on failing
 * servers. Finagle's RetryBudget and Envoy limit retries likewise.
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

/* The caller zeroes the struct before the first use. */
struct retry_budget {
    /* private, like all fields below */
    uint64_t bucket_ends_ms;
    unsigned requests[RETRY_BUDGET_SECONDS]; /* requests in each second */
    unsigned retries[RETRY_BUDGET_SECONDS];
    unsigned at; /* index of the present second */
};

/* Counts a request at its first try. */
void retry_budget_note_request(struct retry_budget *budget, uint64_t now_ms);

/* Takes a retry from the budget. Returns false if no retry is left. */
MUST_USE bool retry_budget_take(struct retry_budget *budget, uint64_t now_ms);

#endif
