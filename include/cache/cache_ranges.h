/*
 * cache_ranges - the parts of an incomplete representation that are there:
 * ranges of bytes, each in a body of its own (RFC 9111 3.3).
 *
 *   0          length
 *   |--[==]----[=====][==]-----|     in order, none touches what another has
 *
 * Only ranges of the same representation may be joined, which a strong
 * validator tells (RFC 9110 15.3.7.3): the caller sees to that.
 *
 * Thread: any: it never changes once it is made, but for its bodies.
 * Owns:   references to bodies. It lies in one entry, and goes with it.
 */
#ifndef CACHE_CACHE_RANGES_H
#define CACHE_CACHE_RANGES_H

#include "cache/cache_body.h"
#include "http/range.h"

enum { CACHE_RANGES_MAX = 16 };

struct cache_range {
    struct range at;         /* where it is in the representation */
    uint64_t skip;           /* bytes of body before the range */
    struct cache_body *body; /* counted */
};

struct cache_ranges {
    uint64_t length; /* of the representation */
    unsigned count;
    struct cache_range ranges[CACHE_RANGES_MAX];
};

/* Takes a Content-Range apart: one that says all three numbers, and no
 * nonsense.
 */
MUST_USE bool cache_ranges_read(struct bytes value, struct range *range_out,
                                uint64_t *length_out);

/* Makes one range, which body has or will have. NULL: no memory. */
MUST_USE struct cache_ranges *cache_ranges_create(uint64_t length,
                                                  const struct range *range,
                                                  struct cache_body *body);

/* Joins the ranges of both; a byte that both have is fresh's. Bodies that have
 * broken off are left out. NULL: that is more than bytes_max, or too many
 * ranges, or there is no memory. */
MUST_USE struct cache_ranges *cache_ranges_join(
    const struct cache_ranges *earlier, const struct cache_ranges *fresh,
    uint64_t bytes_max);

void cache_ranges_destroy(struct cache_ranges *ranges); /* NULL is accepted */

/* Whether all of that range can be had: in one body, which may still be filled,
 * or in several that are whole. */
bool cache_ranges_has(const struct cache_ranges *ranges,
                      const struct range *wanted);

/* Whether all but one range is there, in bodies that are whole. */
bool cache_ranges_find_gap(const struct cache_ranges *ranges,
                           struct range *gap_out);

/* The range that has the byte at at; NULL: none has. */
const struct cache_range *cache_ranges_find(const struct cache_ranges *ranges,
                                            uint64_t at);

/* At most len bytes from at on; they are there, in a body that is whole. */
struct part cache_ranges_part(const struct cache_ranges *ranges, uint64_t at,
                              uint64_t len);

/* How much the ranges take, as of bodies whose lengths are known. */
uint64_t cache_ranges_footprint(const struct cache_ranges *ranges);
uint64_t cache_ranges_memory(const struct cache_ranges *ranges);

#endif
