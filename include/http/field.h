/*
 * field - one line of a head, and the names that mean something to a server.
 *
 * Thread: any; no state.
 * Owns:   nothing; name and value are views into the buffer of the head.
 */
#ifndef HTTP_FIELD_H
#define HTTP_FIELD_H

#include <stdint.h>

#include "base/bytes.h"

/* Fields that the server itself looks at. Any other field is FIELD_OTHER, and
 * is found by its name. */
enum field_id {
    FIELD_OTHER,
    FIELD_ACCEPT,
    FIELD_ACCEPT_ENCODING,
    FIELD_AUTHORIZATION,
    FIELD_CONNECTION,
    FIELD_CONTENT_LENGTH,
    FIELD_DATE,
    FIELD_EXPECT,
    FIELD_FORWARDED,
    FIELD_HOP_BY_HOP, /* any other field that is about one connection */
    FIELD_HOST,
    FIELD_IF_MATCH,
    FIELD_IF_MODIFIED_SINCE,
    FIELD_IF_NONE_MATCH,
    FIELD_IF_RANGE,
    FIELD_IF_UNMODIFIED_SINCE,
    FIELD_MAX_FORWARDS,
    FIELD_ORIGIN,
    FIELD_RANGE,
    FIELD_REFERER,
    FIELD_TE,
    FIELD_TRAILER,
    FIELD_TRANSFER_ENCODING,
    FIELD_UPGRADE,
    FIELD_USER_AGENT,
    FIELD_VIA,
    FIELD_X_FORWARDED_FOR,
    FIELD_X_FORWARDED_HOST,
    FIELD_X_FORWARDED_PROTO,
    FIELD_X_REAL_IP,
    FIELD_COUNT
};

_Static_assert(FIELD_COUNT <= 32, "each has a bit in a set of fields seen");

struct field {
    struct bytes name;
    struct bytes value; /* without white space around it */
    enum field_id id;
};

/* Returns the id of the field with this name, in any case of letters. */
enum field_id field_identify(struct bytes name);

/* Returns a byte of a name as CGI writes it: a letter becomes a small letter, a
 * digit stays, and any other byte becomes '_'. */
static inline char field_byte_of_cgi(char byte)
{
    char lower = byte_lower(byte);

    return (lower >= 'a' && lower <= 'z') || byte_is_digit(lower) ? lower : '_';
}

/* Whether `name` and `wanted` are one name to programs that read names as CGI
 * does. CGI makes '_' of all bytes but letters and digits (RFC 3875 4.1.18). */
bool field_is_called(struct bytes name, struct bytes wanted);

/* Finds the only field with this name, in any case of letters. Returns NULL
 * when there is no such field, or more than one. */
const struct field *field_find_only(const struct field *fields, size_t count,
                                    struct bytes name);

/* Takes the next member off a comma-separated list (RFC 9110 5.6.1). A member
 * may be empty. list->data becomes NULL with the last member. Returns false
 * when no member is left. */
bool field_next_member(struct bytes *list, struct bytes *member_out);

#endif
