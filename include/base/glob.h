/*
 * glob - matches paths against patterns, and captures the text that each
 * wildcard matched.
 *
 *   ?    one byte, not '/'
 *   *    any number of bytes other than '/', or none
 *   **   any number of bytes, or none
 *   \c   the byte c itself
 *
 * All other bytes match themselves, and a pattern must match the whole text. If
 * it can match in several ways, the first * or ** takes as few bytes as
 * possible, then the second one, and so on. These two wildcards are numbered
 * together, from 1.
 *
 * A match takes time proportional to the length of the text times the length of
 * the pattern, for any text and pattern: the text is read once, and all
 * possible matches are followed at the same time.
 *
 * Thread: any; a compiled pattern is never changed.
 */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdint.h>

#include "base/bytes.h"

enum {
    GLOB_BYTES_MAX = 200,
    GLOB_TEXT_BYTES_MAX = UINT16_MAX, /* a longer text never matches */
    GLOB_CAPTURES_MAX = 9
};

struct glob {
    uint8_t count;    /* number of steps */
    uint8_t captures; /* how many steps are * or ** */
    struct glob_step {
        uint8_t kind; /* private */
        char byte;    /* a literal byte, or a wildcard's number from 0 */
    } steps[GLOB_BYTES_MAX];
};

/* Compiles the pattern in `text`. Returns NULL if the pattern is valid;
 * otherwise, returns what is wrong with it, such as "is empty". */
MUST_USE const char *glob_read(struct glob *glob, struct bytes text);

/* Returns true if the whole text matches the pattern. captures[0] then becomes
 * the part of `text` that the first * or ** matched, captures[1] the part of
 * the second, and so on. `captures` may be NULL. */
MUST_USE bool glob_matches(const struct glob *glob, struct bytes text,
                           struct bytes captures[GLOB_CAPTURES_MAX]);

#endif
