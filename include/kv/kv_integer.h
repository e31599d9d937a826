/*
 * kv_integer - values that can be added to: whole numbers of 64 bits, as text.
 *
 *   "0", or digits that do not begin with "0", or "-" and such digits; then at
 *   most one line end, since `echo` writes one
 *
 * Thread: any; no state.
 */
#ifndef KV_KV_INTEGER_H
#define KV_KV_INTEGER_H

#include <stdint.h>

#include "base/bytes.h"

enum { KV_INTEGER_BYTES_MAX = 20 }; /* bytes of -2^63, without a line end */

/* Reads a number. False: text is no number, or one beyond 64 bits. */
MUST_USE bool kv_integer_read(struct bytes text, int64_t *number_out);

/* Writes the number's text into out, and returns it. */
struct bytes kv_integer_write(int64_t number, char out[KV_INTEGER_BYTES_MAX]);

#endif
