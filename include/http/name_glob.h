/*
 * name_glob - a pattern of files: with a slash, of their whole path; without
 * one, of their name in any directory.
 *
 *   /assets/v*.js    by path
 *   *.css            by name, the last segment
 *
 * Thread: any; once read it is never changed.
 */
#ifndef HTTP_NAME_GLOB_H
#define HTTP_NAME_GLOB_H

#include "base/glob.h"

struct name_glob {
    bool is_path;
    struct glob glob;
};

/* NULL, or what is wrong with text, as words to put behind it. */
MUST_USE const char *name_glob_read(struct name_glob *glob, struct bytes text);

/* Whether the pattern matches a clean path that names a file. */
MUST_USE bool name_glob_matches(const struct name_glob *glob,
                                struct bytes path);

/* Takes the pattern that begins a rule off the front of text: what is before
 * the first blank. What follows stands in text, trimmed. */
struct bytes name_glob_take(struct bytes *text);

#endif
