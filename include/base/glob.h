/*
 * glob - patterns of paths: what they match, and what their wildcards took.
 *
 *   ?    one byte, not '/'
 *   *    any run of bytes without '/', also none
 *   **   any run of bytes, also none
 *   \c   the byte c itself
 *
 * Everything else stands for itself, and all of the text must match. Wildcards
 * of a run are numbered from 1; an earlier one takes as little as it can.
 *
 * Time grows with length of text times length of pattern, whatever they are:
 * the text is read once, by all the ways a match can go at the same time.
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
    uint8_t captures; /* how many steps are wildcards of a run */
    struct glob_step {
        uint8_t kind; /* private */
        char byte;    /* the literal, or the wildcard's number from 0 */
    } steps[GLOB_BYTES_MAX];
};

/* Compiles text. NULL, or what is wrong with it, as words to put behind it. */
MUST_USE const char *glob_read(struct glob *glob, struct bytes text);

/* Whether all of text matches; then captures[0] is what the first wildcard
 * took, as a part of text, and so on. captures may be NULL. */
MUST_USE bool glob_matches(const struct glob *glob, struct bytes text,
                           struct bytes captures[GLOB_CAPTURES_MAX]);

#endif
