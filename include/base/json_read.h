/*
 * json_read - parses JSON (RFC 8259) strictly into an array of values, which
 * borrow the text.
 *
 * An array or object is followed by all values inside it. Its `size` counts
 * itself and these values, so the value behind it is `size` places further on.
 * A name with escapes is kept as written, since no caller looks for such a
 * name. If an object has two members with the same name, the first is used.
 *
 * No library is used, since the server reads small documents with a few known
 * members. A library would be one more dependency at run time, with limits of
 * its own.
 *
 * Thread: any; no state but the struct.
 * Owns:   the array of values, not the text.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdint.h>

#include "base/buf.h"

enum {
    JSON_DEPTH_MAX = 32,
    JSON_VALUES_MAX = 1 << 18, /* 10 MiB, at 40 bytes each */
    JSON_NUMBER_BYTES_MAX = 63
};

enum json_kind {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_value {
    enum json_kind kind;
    uint32_t size;     /* number of values: this one and all inside it */
    struct bytes name; /* a member's name, without quotes */
    union {
        struct bytes text; /* a string as written, without quotes */
        double number;
    };
};

struct json_reader {
    struct json_value *values; /* values[0] is the whole document */
    uint32_t count;
    uint32_t capacity;
    uint32_t count_max;
};

/* Parses `text`, which must stay as long as the values are used. Returns 0,
 * -EINVAL if the text is not JSON, -E2BIG if it exceeds a limit, or -ENOMEM.
 * json_fini() may be called in any case. */
MUST_USE int json_read(struct json_reader *json, struct bytes text);

/* Parses text from strangers. Does the same as json_read(), but also returns
 * -E2BIG if the text has more than values_max values. */
MUST_USE int json_read_few(struct json_reader *json, struct bytes text,
                           uint32_t values_max);
void json_fini(struct json_reader *json);

/* Returns the member of `value` with that name; NULL if there is none. Also
 * returns NULL if `value` is NULL or not an object, so that calls can be
 * nested. */
const struct json_value *json_find(const struct json_value *value,
                                   const char *name);

/* Returns the value after `previous` in the array or object `list`, or the
 * first value if `previous` is NULL. Returns NULL after the last value, and
 * also if `list` is NULL or has no values of its own. */
const struct json_value *json_next(const struct json_value *list,
                                   const struct json_value *previous);

/* Returns the number in `value`; if `value` is NULL or not a number, returns
 * `otherwise`. */
double json_number(const struct json_value *value, double otherwise);

bool json_is_true(const struct json_value *value);

/* Appends the text of a string as UTF-8, with its escapes replaced. The text
 * may contain any character, even NUL. Appends nothing if `value` is NULL or
 * not a string. */
void json_put_text(struct buf *buf, const struct json_value *value);

#endif
