#include "upstream/retry_budget.h"

#include "base/units.h"

/* Drops the seconds that have left the window. */
static void advance(struct retry_budget *budget, uint64_t now_ms)
{
    if (now_ms >= budget->bucket_ends_ms + RETRY_BUDGET_SECONDS * MS_PER_S) {
        *budget = (struct retry_budget){
            .bucket_ends_ms = now_ms - now_ms % MS_PER_S + MS_PER_S};
        return;
    }
    while (now_ms >= budget->bucket_ends_ms) {
        budget->at = (budget->at + 1) % RETRY_BUDGET_SECONDS;
        budget->requests[budget->at] = 0;
        budget->retries[budget->at] = 0;
        budget->bucket_ends_ms += MS_PER_S;
    }
}

void retry_budget_note_request(struct retry_budget *budget, uint64_t now_ms)
{
    advance(budget, now_ms);
    budget->requests[budget->at]++;
}

bool retry_budget_take(struct retry_budget *budget, uint64_t now_ms)
{
    uint64_t requests = 0;
    uint64_t retries = 0;

    advance(budget, now_ms);
    for (unsigned i = 0; i < RETRY_BUDGET_SECONDS; i++) {
        requests += budget->requests[i];
        retries += budget->retries[i];
    }
    if (retries >= requests / RETRY_BUDGET_SHARE + RETRY_BUDGET_FREE)
        return false;
    budget->retries[budget->at]++;
    return true;
}
