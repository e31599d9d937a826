/*
 * json_read - JSON (RFC 8259), strictly, as a row of values that borrow the
 * text.
 *
 * A value stands before what it holds, so that a list's first value is the
 * next in the row, and its size says where the one after it stands. A name
 * that has escapes is kept as it came; nobody here asks for such a one. Of two
 * members of one name the first counts.
 *
 * Why not a library: what is read are small documents of a few known members.
 * For that, a library would be one more dependency of the server at run time,
 * with limits of its own.
 *
 * Thread: any; no state but the struct.
 * Owns:   the row, not the text.
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
    uint32_t size;     /* how many values it is in the row, with all inside */
    struct bytes name; /* name of a member, without quotes */
    union {
        struct bytes text; /* of a string: as it came, without quotes */
        double number;
    };
};

struct json_reader {
    struct json_value *values; /* values[0] is the whole; the rest is private */
    uint32_t count;
    uint32_t capacity;
    uint32_t count_max;
};

/* Reads text, which must stay as long as the values are used. 0; -EINVAL: it
 * is no JSON; -E2BIG: it is beyond a limit; -ENOMEM. json_fini() may be called
 * in any case. */
MUST_USE int json_read(struct json_reader *json, struct bytes text);

/* Reads the same with fewer values, values_max at most: for what strangers
 * send. */
MUST_USE int json_read_few(struct json_reader *json, struct bytes text,
                           uint32_t values_max);
void json_fini(struct json_reader *json);

/* The member of that name; NULL when there is none, or value is NULL or no
 * object: so that calls can be nested. */
const struct json_value *json_find(const struct json_value *value,
                                   const char *name);

/* The values of an array or object, one after the other; NULL at its end, or
 * when list is NULL or neither. previous: NULL for the first. */
const struct json_value *json_next(const struct json_value *list,
                                   const struct json_value *previous);

/* The number that value is; otherwise when value is NULL or no number. */
double json_number(const struct json_value *value, double otherwise);

bool json_is_true(const struct json_value *value);

/* Puts the text of a string as UTF-8, escapes undone; nothing when value is
 * NULL or no string. It may hold anything, even NUL. */
void json_put_text(struct buf *buf, const struct json_value *value);

#endif
