/*
 * include_folders - records the folders where included files are, or may appear
 * later.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the names lie in the options' arena.
 */
#ifndef CONFIG_INCLUDE_FOLDERS_H
#define CONFIG_INCLUDE_FOLDERS_H

#include "config/options.h"

/* Whether `text` has wildcards, and so may match several files. */
bool include_is_pattern(struct bytes text);

/* Records the folders of `pattern`, which is relative to `folder`. `path` is
 * the folder and the pattern joined, in the form that glob() takes. Returns
 * false if there is no memory. */
MUST_USE bool include_folders_note(struct options *options, const char *folder,
                                   struct bytes pattern, const char *path);

#endif
