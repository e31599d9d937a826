/*
 * query - the parameters of a query: "name=value&name=value".
 *
 * As forms send them (WHATWG URL 5): '+' is a space, %XX a byte, both decoded
 * exactly once; a name without '=' has an empty value; nothing between two '&'
 * is nothing. A name that nobody asks for is refused, or a misspelt one would
 * go unnoticed; so is a name that comes twice, since two readers could take
 * different ones.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include <stdint.h>

#include "base/bytes.h"

struct query_parameter {
    struct bytes name;  /* set by the caller */
    struct bytes value; /* decoded; data NULL: it was not given */
};

enum query_verdict {
    QUERY_DONE,
    QUERY_UNKNOWN,  /* nobody asks for that name */
    QUERY_TWICE,    /* it has been given before */
    QUERY_MALFORMED /* has NUL, or a broken escape */
};

/* Finds the parameters in raw, a query without its '?' (it may be empty).
 * Values are written to out, which has room for raw.len bytes. On a fault
 * *name_out is the name at fault, decoded if it can be. */
MUST_USE enum query_verdict query_read(struct bytes raw, char *out,
                                       struct query_parameter *parameters,
                                       size_t count, struct bytes *name_out);

/* Reads a decimal number of digits only. False: text is none, or greater than
 * max. */
MUST_USE bool query_number(struct bytes text, uint64_t max,
                           uint64_t *number_out);

#endif
