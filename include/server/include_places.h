/*
 * include_places - where what a configuration includes is, and may come to be.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the names lie in the options' arena.
 */
#ifndef SERVER_INCLUDE_PLACES_H
#define SERVER_INCLUDE_PLACES_H

#include "server/options.h"

/* Whether it may stand for several files. */
bool include_is_pattern(struct bytes text);

/* Notes the places of a pattern that is read below folder; path is both, as
 * glob() takes it. False: no memory. */
MUST_USE bool include_places_note(struct options *options, const char *folder,
                                  struct bytes pattern, const char *path);

#endif
