/*
 * query - the parameters of a query: "name=value&name=value".
 *
 * Parameters are read as forms send them (WHATWG URL 5): '+' is a space and %XX
 * a byte, both decoded exactly once; a name without '=' has an empty value; an
 * empty parameter between two '&' is skipped. A name that nobody asks for is
 * refused, because a misspelt name would go unnoticed otherwise. A name that
 * comes twice is refused, because two readers could take different values.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include <stdint.h>

#include "base/bytes.h"

struct query_parameter {
    struct bytes name;  /* set by the caller */
    struct bytes value; /* decoded; data NULL: no such name was given */
};

enum query_verdict {
    QUERY_DONE,
    QUERY_UNKNOWN,  /* nobody asks for a name that was given */
    QUERY_TWICE,    /* a name was given twice */
    QUERY_MALFORMED /* a name or value has NUL, or a broken escape */
};

/* Finds the parameters in raw, a query without its '?', which may be empty.
 * Values are written to `out`, which has room for raw.len bytes. On a fault
 * *name_out is the name at fault, decoded if possible. */
MUST_USE enum query_verdict query_read(struct bytes raw, char *out,
                                       struct query_parameter *parameters,
                                       size_t count, struct bytes *name_out);

/* Reads a decimal number of digits only. Returns false when `text` is no such
 * number, or the number is greater than `max`. */
MUST_USE bool query_number(struct bytes text, uint64_t max,
                           uint64_t *number_out);

#endif
