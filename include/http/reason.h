/*
 * reason - the reasons for refusing a request before its target is looked up.
 * One list of words serves the answer's body, the access log and the operator's
 * log. docs/logs.md has the list, too.
 *
 * Thread: any; constant.
 */
#ifndef HTTP_REASON_H
#define HTTP_REASON_H

#include "base/bytes.h"

enum reason {
    REASON_NONE, /* not refused before its target was looked up */
    /* Faults of the first line. */
    REASON_EMPTY_LINES,
    REASON_REQUEST_LINE,
    REASON_METHOD,
    REASON_TARGET_BYTES,
    REASON_TARGET_FORM,
    REASON_TARGET_TOO_LONG,
    REASON_VERSION,
    /* Faults of any line. */
    REASON_LINE_END,
    REASON_CONTROL_BYTE,
    REASON_FIELD_LINE,
    REASON_TOO_MANY_FIELDS,
    REASON_HEAD_TOO_LARGE,
    REASON_HEAD_TIMEOUT,
    /* Faults in what fields say. */
    REASON_HOST_MISSING,
    REASON_HOST_TWICE,
    REASON_HOST_INVALID,
    REASON_CONTENT_LENGTH,
    REASON_TRANSFER_ENCODING,
    REASON_LENGTH_AND_CODING,
    REASON_CODING_UNKNOWN,
    REASON_EXPECTATION,
    /* The request names another host than its connection was made for. */
    REASON_MISDIRECTED,
    /* The client's certificate no longer says who it is. */
    REASON_CLIENT_EXPIRED,
    /* Faults of the request's body. */
    REASON_CHUNK,
    REASON_BODY_TOO_LARGE,
    REASON_BODY_UNWANTED,
    REASON_BODY_TIMEOUT,
    /* Faults of the path. */
    REASON_ENCODED_SLASH,
    REASON_ENCODED_NUL,
    REASON_ABOVE_ROOT,
    REASON_PATH_UNCLEAR,
    /* Faults because of which a request cannot be passed on. */
    REASON_CONNECTION_FIELD,
    REASON_MAX_FORWARDS,
    REASON_LOOP,
    /* A store of keys refuses the request; the answer says more. */
    REASON_KEYS,
    REASON_COUNT
};

/* Returns the word of a reason, as "host-missing"; empty for REASON_NONE. */
struct bytes reason_word(enum reason reason);

/* Returns the status that answers the refused request; 0 for REASON_NONE. */
unsigned reason_status(enum reason reason);

/* Returns a sentence that tells people the reason. */
struct bytes reason_text(enum reason reason);

#endif
