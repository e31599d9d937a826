/*
 * cache_targeted - what CDN-Cache-Control says to caches like this one (RFC
 * 9213): the directives of Cache-Control as members of a dictionary of
 * structured fields (RFC 9651), where what is wrong anywhere counts nowhere.
 *
 * Thread: any; no state.
 * Owns:   nothing; the lists of fields are views into the value read.
 */
#ifndef CACHE_CACHE_TARGETED_H
#define CACHE_CACHE_TARGETED_H

#include "cache/cache_control.h"

/* Reads the value of one line, on top of what those before it said; of two
 * members of one name the last counts. False: it is no dictionary, and what
 * control says is not to be used. */
MUST_USE bool cache_targeted_read(struct cache_control *control,
                                  struct bytes value);

#endif
