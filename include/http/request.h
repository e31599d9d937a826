/*
 * request - one HTTP request, taken apart: views into the read buffer.
 *
 * Thread: the worker that read it.
 * Owns:   nothing; every struct bytes points into the buffer the head was
 *         read into and lives as long as that. `fields` is the caller's.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "http/field.h"

/* The methods that handlers tell apart. METHOD_OTHER is a method that is
 * registered but that nothing here implements (405). A name that nobody
 * registered never becomes a request (501). */
enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_OPTIONS,
    METHOD_POST,
    METHOD_PUT,
    METHOD_DELETE,
    METHOD_PATCH,
    METHOD_TRACE,
    METHOD_CONNECT,
    METHOD_OTHER,
    METHOD_COUNT
};

/* Whether a request with this method has no further effect when it is repeated
 * (RFC 9110 9.2.2). */
static inline bool method_is_idempotent(enum method method)
{
    return method == METHOD_GET || method == METHOD_HEAD ||
           method == METHOD_OPTIONS || method == METHOD_PUT ||
           method == METHOD_DELETE;
}

enum {
    REQUEST_FIELDS_MAX = 100,
    REQUEST_FIELDS_FEW = 20, /* enough for most requests of browsers */
    REQUEST_HTTP2 = 2        /* value of `minor` for a request of HTTP/2 */
};

/* The scheme that a target in absolute form names, or ":scheme" if that is
 * https. */
enum target_scheme {
    TARGET_SCHEME_NONE, /* the request names no scheme that counts */
    TARGET_SCHEME_HTTP,
    TARGET_SCHEME_HTTPS
};

struct request {
    enum method method;
    unsigned minor;           /* HTTP/1.minor: 0 or 1; or REQUEST_HTTP2 */
    bool keep_alive;          /* the client wants to go on (RFC 9112 9.3) */
    bool has_options;         /* Connection has more than keep-alive or close */
    bool is_chunked;          /* the body is framed by chunks */
    bool expects_continue;    /* Expect: 100-continue, and HTTP/1.1 */
    bool expects_other;       /* Expect has something else: 417 */
    uint8_t scheme;           /* enum target_scheme */
    uint64_t content_length;  /* 0 if there is none, or if is_chunked */
    struct bytes line;        /* the request line, for logs */
    struct bytes method_name; /* as sent */
    struct bytes target;      /* as sent */
    struct bytes path;        /* path of the target: "/..." or "*"; encoded */
    struct bytes query;       /* text behind '?'; data NULL: there is no '?' */
    struct bytes host;        /* authority of the target, else Host, else "" */
    uint32_t seen;            /* bit 1 << id: such a field came */
    uint8_t first[FIELD_COUNT]; /* first[id]: index of the first such field */
    uint8_t field_count;
    /* The caller points `fields` to room for REQUEST_FIELDS_FEW. Where that
     * room is too small, `fields` becomes `many`. */
    struct field *fields;
    struct field
        *many; /* room for REQUEST_FIELDS_MAX fields, by the caller; or NULL */
};

/* Returns the first field with that id, or NULL. */
static inline const struct field *request_find(const struct request *request,
                                               enum field_id id)
{
    return request->seen & (1u << id) ? &request->fields[request->first[id]]
                                      : NULL;
}

/* Returns the next field with the id of `field`, or NULL. A list may be spread
 * over several fields (RFC 9110 5.3). Not for FIELD_OTHER. */
static inline const struct field *request_next(const struct request *request,
                                               const struct field *field)
{
    const struct field *end = request->fields + request->field_count;

    for (const struct field *next = field + 1; next < end; next++)
        if (next->id == field->id)
            return next;
    return NULL;
}

/* Returns the field with that id when there is exactly one, NULL otherwise. A
 * field that is no list but comes twice is invalid, and ignored. */
static inline const struct field *request_single(const struct request *request,
                                                 enum field_id id)
{
    const struct field *field = request_find(request, id);

    return field && !request_next(request, field) ? field : NULL;
}

#endif
