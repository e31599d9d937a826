/*
 * cache_targeted - reads what CDN-Cache-Control says to caches like this one
 * (RFC 9213). The directives of Cache-Control are members of a dictionary of
 * structured fields (RFC 9651). One fault anywhere makes the whole field void.
 *
 * Thread: any; no state.
 * Owns:   nothing; the lists of fields are views into the value read.
 */
#ifndef CACHE_CACHE_TARGETED_H
#define CACHE_CACHE_TARGETED_H

#include "cache/cache_control.h"

/* Reads the value of one line, and adds its directives to those of earlier
 * lines. Of two members with one name the last counts. Returns false when
 * `value` is no dictionary; *control must not be used then. */
MUST_USE bool cache_targeted_read(struct cache_control *control,
                                  struct bytes value);

#endif
