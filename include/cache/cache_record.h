/*
 * cache_record - an entry, without its body, as bytes in a file.
 *
 * Thread: any; no state.
 */
#ifndef CACHE_CACHE_RECORD_H
#define CACHE_CACHE_RECORD_H

#include "cache/cache_entry.h"

/* Appends the entry, without its body, to `out`. */
void cache_record_put(const struct cache_entry *entry, struct buf *out);

/* Reads an entry out of a record. The entry has no body, since a record has
 * none. `surrogate` is our name in Surrogate-Control. Returns NULL when the
 * record is malformed, or memory is short. */
MUST_USE struct cache_entry *cache_record_read(struct bytes record,
                                               struct bytes surrogate);

#endif
