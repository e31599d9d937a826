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
    RANGE_IGNORE,        /* no byte range, malformed or too many: send all */
    RANGE_UNSATISFIABLE, /* none overlaps the representation: 416 */
    RANGE_PARTIAL        /* 206 with the ranges written */
};

/* Takes the value of a Range field apart for a representation of length
 * bytes. Satisfiable ranges are written in the order asked for; those that
 * overlap or touch another are joined with it, at the place of the earliest
 * asked (RFC 9110 15.3.7.2). More than RANGE_COUNT_MAX ranges in the field,
 * satisfiable or not, are an attack or a mistake: RANGE_IGNORE. Units other
 * than "bytes" (any case), syntax errors and numbers over 2^64 - 1 that are
 * not a last-pos or suffix: RANGE_IGNORE (a last-pos or suffix too large is
 * cut to the end). "bytes=0-" of an empty representation is unsatisfiable;
 * so is a suffix of 0. Any other suffix of an empty representation can be
 * satisfied (14.1.2), but no 206 can say so: RANGE_IGNORE. */
enum range_verdict range_parse(struct bytes value, uint64_t length,
                               struct range out[RANGE_COUNT_MAX],
                               size_t *count_out);

#endif
