/*
 * representation - answers GET and HEAD for something that has validators and
 * a length.
 *
 * It makes the answers to conditions (304, 412) and to ranges (206 with one
 * range, 206 as multipart/byteranges with several, 416). Where all of the body
 * is to be sent it says so, and the caller sends it.
 *
 * Files come this way, and whatever else a handler can name by ETag. What a
 * Range field asks for is read by http/range.h, what a condition asks by
 * http/condition.h.
 *
 * Thread: the worker's; no state but the boundary.
 */
#ifndef HANDLER_REPRESENTATION_H
#define HANDLER_REPRESENTATION_H

#include "http/condition.h"
#include "http/exchange.h"

struct representation {
    struct validators validators;
    uint64_t length;
    struct bytes type;     /* Content-Type */
    struct bytes encoding; /* Content-Encoding; empty: identity */
    /* What 200, 206 and 304 have alike (RFC 9110 15.4.5), whole lines:
     * validators, Vary, Cache-Control. */
    struct bytes fields;
    /* The body: in memory, or when that is NULL in an open file. */
    const char *memory;
    int fd;
    enum part_kind file_kind; /* how it leaves the file */
};

/* What multipart bodies are delimited by: unguessable, never the same. */
struct boundary {
    uint64_t secret;
    uint64_t count;
};

enum representation_answer {
    REPRESENTATION_WHOLE,  /* nothing done yet: send all of it with 200 */
    REPRESENTATION_BODY,   /* answered with parts of the body: they must stay
                             until the response is done (its origin) */
    REPRESENTATION_NO_BODY /* answered without it */
};

/* Whether the request has a field that may make it anything but a plain 200.
 * For the hot path: when not, the answer is REPRESENTATION_WHOLE. */
static inline bool representation_is_plain(const struct request *request)
{
    enum {
        FIELDS = 1u << FIELD_IF_MATCH | 1u << FIELD_IF_NONE_MATCH |
                 1u << FIELD_IF_MODIFIED_SINCE |
                 1u << FIELD_IF_UNMODIFIED_SINCE | 1u << FIELD_RANGE
    };

    return !(request->seen & FIELDS);
}

enum representation_answer representation_answer(
    const struct representation *representation, struct exchange *exchange,
    const struct server_defaults *defaults, struct boundary *boundary);

/* Adds len bytes of the body from first on to the response. */
void representation_add_body(const struct representation *representation,
                             struct response *response, uint64_t first,
                             uint64_t len);

#endif
