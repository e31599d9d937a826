/*
 * cache_ranges - the stored parts of an incomplete representation: ranges of
 * bytes, each in a body of its own (RFC 9111 3.3).
 *
 *   0          length
 *   |--[==]----[=====][==]-----|     in order, without overlaps
 *
 * Only ranges of the same representation may be joined. The caller makes sure
 * of that by a strong validator (RFC 9110 15.3.7.3).
 *
 * Thread: any; once made, a cache_ranges never changes, except its bodies.
 * Owns:   references to bodies. A cache_ranges lies in one entry, and goes with
 *         it.
 */
#ifndef CACHE_CACHE_RANGES_H
#define CACHE_CACHE_RANGES_H

#include "cache/cache_body.h"
#include "http/range.h"

enum { CACHE_RANGES_MAX = 16 };

struct cache_range {
    struct range at;         /* place of the range in the representation */
    uint64_t skip;           /* how many bytes of `body` lie before the range */
    struct cache_body *body; /* counted */
};

struct cache_ranges {
    uint64_t length; /* length of the representation */
    unsigned count;
    struct cache_range ranges[CACHE_RANGES_MAX];
};

/* Takes a Content-Range apart. Returns false when it lacks one of its three
 * numbers, or makes no sense. */
MUST_USE bool cache_ranges_read(struct bytes value, struct range *range_out,
                                uint64_t *length_out);

/* Makes a cache_ranges of one range, whose bytes `body` has or will have.
 * Returns NULL when memory is short. */
MUST_USE struct cache_ranges *cache_ranges_create(uint64_t length,
                                                  const struct range *range,
                                                  struct cache_body *body);

/* Joins the ranges of `earlier` with the one range of `fresh`. Bytes that both
 * have are taken from `fresh`. Ranges whose bodies have broken off are left
 * out. Returns NULL when the result would have more than bytes_max bytes or
 * more than CACHE_RANGES_MAX ranges, or when memory is short. */
MUST_USE struct cache_ranges *cache_ranges_join(
    const struct cache_ranges *earlier, const struct cache_ranges *fresh,
    uint64_t bytes_max);

void cache_ranges_destroy(struct cache_ranges *ranges); /* NULL is accepted */

/* Whether all bytes of `wanted` are there. They may lie in one range, even if
 * its body is still being filled, or in several ranges whose bodies are all
 * whole. */
bool cache_ranges_has(const struct cache_ranges *ranges,
                      const struct range *wanted);

/* Whether all bodies are whole, and the missing bytes make exactly one range.
 * *gap_out then becomes that range. */
bool cache_ranges_find_gap(const struct cache_ranges *ranges,
                           struct range *gap_out);

/* Returns the range that has the byte at offset `at`; NULL when none has. */
const struct cache_range *cache_ranges_find(const struct cache_ranges *ranges,
                                            uint64_t at);

/* Returns at most len bytes of one range, from offset `at` on. The body of the
 * range is whole. */
struct part cache_ranges_part(const struct cache_ranges *ranges, uint64_t at,
                              uint64_t len);

/* Return how many bytes the ranges take, and how many of them are memory. */
uint64_t cache_ranges_footprint(const struct cache_ranges *ranges);
uint64_t cache_ranges_memory(const struct cache_ranges *ranges);

#endif
