/*
 * rate_limit - how often an address may ask: a bucket of tokens for each.
 *
 * One table for all workers: with one each, a client would have as many times
 * the rate. Shards with a lock each keep them apart, and only locations with a
 * limit pay for it: an uncontended lock and two cache lines.
 *
 * Memory is fixed. An address has one place in one of many small sets, which
 * one nobody can foresee; when its set is full, the bucket that is nearest to
 * being full itself makes room, which is all but forgotten then, and not one
 * that is being held back. So a client that sprays addresses takes nothing from
 * others: a bucket lost is a bucket full again.
 *
 * Thread: rate_limit_take() any.
 * Owns:   the table.
 */
#ifndef HANDLER_RATE_LIMIT_H
#define HANDLER_RATE_LIMIT_H

#include "base/address.h"

enum {
    RATE_COUNT_MAX = 1000000,
    RATE_BURST_MAX = 1000000,
    RATE_LIMIT_ENTRIES_MAX = 1 << 24, /* 256 MiB */
    RATE_LIMIT_ENTRY_BYTES = 16       /* for who chooses how many */
};

/* count tokens in period_ms. */
struct rate {
    uint32_t count;
    uint32_t period_ms;
};

/* "10/s", "300/m" or "1000/h". False: it is no such thing, or none, or more
 * than RATE_COUNT_MAX. */
MUST_USE bool rate_parse(struct rate *rate, struct bytes text);

struct rate_limit; /* opaque */

/* burst, 1 to RATE_BURST_MAX, is how many tokens a bucket holds; entries, 1 to
 * RATE_LIMIT_ENTRIES_MAX, how many addresses are known at least. 0 or
 * -errno. */
MUST_USE int rate_limit_create(struct rate_limit **limit_out, struct rate rate,
                               uint32_t burst, size_t entries);
void rate_limit_destroy(struct rate_limit *limit);

/* Takes a token; now_ms is of the monotonic clock, and may differ a little
 * among threads. 0: there was one; else for how many seconds there is none. */
MUST_USE uint32_t rate_limit_take(struct rate_limit *limit,
                                  const struct address *address,
                                  uint64_t now_ms);

#endif
