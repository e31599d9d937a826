/*
 * range - which bytes of a representation a Range field asks for
 * (RFC 9110 14.1 and 14.2).
 *
 * The answer is made elsewhere: handler/representation.h frames the 206 of one
 * range or of several (multipart/byteranges), and the 416.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_RANGE_H
#define HTTP_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum { RANGE_COUNT_MAX = 32 };

struct range {
    uint64_t first;
    uint64_t last; /* inclusive; first <= last < length */
};

enum range_verdict {
    RANGE_IGNORE,        /* the field does not count: send all bytes */
    RANGE_UNSATISFIABLE, /* no range overlaps the representation: 416 */
    RANGE_PARTIAL        /* 206 with the ranges in `out` */
};

/* Reads the value of a Range field for a representation of `length` bytes.
 * Satisfiable ranges are put into `out` in the order asked for. Ranges that
 * overlap or touch are joined, at the place of the one that was asked for first
 * (RFC 9110 15.3.7.2). A last-pos or suffix that is too large is cut to the
 * end. A suffix of 0 is unsatisfiable, and so are "bytes=0-" of an empty
 * representation and a first-pos above 2^64 - 1. The verdict is RANGE_IGNORE
 * for:
 *   - units other than "bytes" (in any case), and syntax errors, such as a
 *     last-pos below its first-pos;
 *   - more than RANGE_COUNT_MAX ranges, satisfiable or not, which are an attack
 *     or a mistake;
 *   - a suffix of an empty representation: it can be satisfied (14.1.2), but no
 *     206 can say so. */
enum range_verdict range_parse(struct bytes value, uint64_t length,
                               struct range out[RANGE_COUNT_MAX],
                               size_t *count_out);

#endif
