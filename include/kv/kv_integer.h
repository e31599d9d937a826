/*
 * kv_integer - values that KV_ADD can add to: whole numbers of 64 bits, as
 * text.
 *
 *   The text is "0", or digits that do not begin with "0", or "-" and digits
 *   that do not begin with "0". One line end may follow, since `echo` writes
 *   one.
 *
 * Thread: any; no state.
 */
#ifndef KV_KV_INTEGER_H
#define KV_KV_INTEGER_H

#include <stdint.h>

#include "base/bytes.h"

enum { KV_INTEGER_BYTES_MAX = 20 }; /* bytes of -2^63, without a line end */

/* Reads a number. Returns false if `text` is not a number of 64 bits. */
MUST_USE bool kv_integer_read(struct bytes text, int64_t *number_out);

/* Writes the number as text into `out`. Returns the text, which lies in
 * `out`. */
struct bytes kv_integer_write(int64_t number, char out[KV_INTEGER_BYTES_MAX]);

#endif
