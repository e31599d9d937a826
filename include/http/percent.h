/*
 * percent - percent-encoded bytes of a URI (RFC 3986 2.1), decoded.
 *
 * Thread: any; no state.
 */
#ifndef HTTP_PERCENT_H
#define HTTP_PERCENT_H

#include "base/bytes.h"

/* What the two digits behind a '%' stand for, 0 to 255; -1: they are none. */
int percent_value(const char *at, const char *end);

/* Decodes raw once, to out, which has room for raw.len bytes; has_form: a '+'
 * is a space, as in what forms send. NUL and broken escapes are refused:
 * false. */
MUST_USE bool percent_decode(struct bytes raw, bool has_form, char *out,
                             size_t *len_out);

#endif
