/*
 * name_glob - a pattern of files. A pattern with a slash is compared with the
 * whole path, a pattern without one with the file's name in any directory.
 *
 *   /assets/v*.js    by path
 *   *.css            by name, the last segment
 *
 * Thread: any; a pattern does not change once it has been read.
 */
#ifndef HTTP_NAME_GLOB_H
#define HTTP_NAME_GLOB_H

#include "base/glob.h"

struct name_glob {
    bool is_path;
    struct glob glob;
};

/* Reads `text` into `glob`. Returns NULL, or what is wrong with `text`, as
 * words to put behind `text`. */
MUST_USE const char *name_glob_read(struct name_glob *glob, struct bytes text);

/* Whether the pattern matches a clean path that names a file. */
MUST_USE bool name_glob_matches(const struct name_glob *glob,
                                struct bytes path);

/* Takes the pattern that begins a rule off the front of *text: all that stands
 * before the first blank. What follows the pattern stays in *text, trimmed. */
struct bytes name_glob_take(struct bytes *text);

#endif
