/*
 * percent - percent-encoded bytes of a URI (RFC 3986 2.1), decoded.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_PERCENT_H
#define HTTP_PERCENT_H

#include "base/bytes.h"

/* Returns the byte, 0 to 255, that the two hex digits at `at` stand for; -1
 * when there are no two hex digits between `at` and `end`. */
int percent_value(const char *at, const char *end);

/* Decodes raw once to `out`, which has room for raw.len bytes. With has_form a
 * '+' becomes a space, as in what forms send. Returns false for a NUL or a
 * broken escape. */
MUST_USE bool percent_decode(struct bytes raw, bool has_form, char *out,
                             size_t *len_out);

#endif
