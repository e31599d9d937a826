/*
 * rate_limit - limits how often an address may ask: one bucket of tokens for
 * each.
 *
 * All workers share one table: with one for each, a client would get the rate
 * once from every worker. The table has shards with a lock each, so workers
 * rarely meet; only locations with a limit pay for it: an uncontended lock and
 * two cache lines.
 *
 * Memory is fixed. An address has its bucket in one of many small sets, chosen
 * by a secret hash; when the set is full, the fullest bucket makes room, since
 * its address loses least, not that of an address held back. So a client that
 * sprays addresses harms nobody: an address that loses its bucket starts with a
 * full one.
 *
 * Thread: any may call rate_limit_take().
 * Owns:   the table.
 */
#ifndef HANDLER_RATE_LIMIT_H
#define HANDLER_RATE_LIMIT_H

#include "base/address.h"

enum {
    RATE_COUNT_MAX = 1000000,
    RATE_BURST_MAX = 1000000,
    RATE_LIMIT_ENTRIES_MAX = 1 << 24, /* 256 MiB of memory */
    RATE_LIMIT_ENTRY_BYTES = 16       /* bytes of an entry */
};

/* count tokens in each period_ms. */
struct rate {
    uint32_t count;
    uint32_t period_ms;
};

/* Reads "10/s", "300/m" or "1000/h". False: text is no rate, 0, or more than
 * RATE_COUNT_MAX. */
MUST_USE bool rate_parse(struct rate *rate, struct bytes text);

struct rate_limit; /* opaque */

/* burst, 1 to RATE_BURST_MAX: tokens in a full bucket. entries, 1 to
 * RATE_LIMIT_ENTRIES_MAX: how many addresses are known at least. Returns 0 or
 * -errno. */
MUST_USE int rate_limit_create(struct rate_limit **limit_out, struct rate rate,
                               uint32_t burst, size_t entries);
void rate_limit_destroy(struct rate_limit *limit);

/* Takes a token. now_ms is on the monotonic clock, and may differ a little
 * between threads. Returns 0, or the seconds until there is a token again. */
MUST_USE uint32_t rate_limit_take(struct rate_limit *limit,
                                  const struct address *address,
                                  uint64_t now_ms);

#endif
