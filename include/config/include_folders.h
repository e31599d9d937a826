/*
 * include_folders - the folders where what a configuration includes is, or may
 * come to be.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the names lie in the options' arena.
 */
#ifndef CONFIG_INCLUDE_FOLDERS_H
#define CONFIG_INCLUDE_FOLDERS_H

#include "config/options.h"

/* Whether text may stand for several files. */
bool include_is_pattern(struct bytes text);

/* Notes the folders of a pattern that is read below folder; path is both, as
 * glob() takes it. False: no memory. */
MUST_USE bool include_folders_note(struct options *options, const char *folder,
                                   struct bytes pattern, const char *path);

#endif
