/*
 * rate_limit - limits how often an address may ask: each address has a bucket
 * of tokens.
 *
 * All workers share one table. With a table for each worker, a client would get
 * the rate once from every worker. The table has shards with a lock each, so
 * that workers rarely meet. Only requests to a location with a limit pay for
 * the table: an uncontended lock and two cache lines.
 *
 * Memory is fixed. An address has its bucket in one of many small sets, chosen
 * by a secret hash. When the set is full, the fullest bucket is given up, since
 * its address loses least: an address that loses its bucket starts with a full
 * one. So a client that sprays addresses harms nobody, and does not free an
 * address that is held back.
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
    RATE_LIMIT_ENTRIES_MAX = 1 << 24, /* so many entries take 256 MiB */
    RATE_LIMIT_ENTRY_BYTES = 16       /* bytes of an entry */
};

/* `count` tokens come in each `period_ms`. */
struct rate {
    uint32_t count;
    uint32_t period_ms;
};

/* Reads "10/s", "300/m" or "1000/h". Returns false if `text` is no rate, or if
 * its number is 0 or above RATE_COUNT_MAX. */
MUST_USE bool rate_parse(struct rate *rate, struct bytes text);

struct rate_limit; /* opaque */

/* Makes a table for at least `entries` addresses, 1 to RATE_LIMIT_ENTRIES_MAX.
 * A full bucket has `burst` tokens, 1 to RATE_BURST_MAX. Returns 0 or
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
