/*
 * representation - answers GET and HEAD for something that has validators and
 * a length.
 *
 * Conditions are answered (304, 412), and so are ranges (206 with one range,
 * 206 as multipart/byteranges with several, 416). If the whole body is to be
 * sent, the result says so, and the caller sends the body.
 *
 * This is used for answers with files, and for all other answers with an ETag.
 * http/range.h reads the Range field, http/condition.h reads the conditions.
 *
 * Thread: the worker's; the boundary is the only state.
 */
#ifndef HANDLER_REPRESENTATION_H
#define HANDLER_REPRESENTATION_H

#include "http/condition.h"
#include "http/exchange.h"

struct representation {
    struct validators validators;
    uint64_t length;
    struct bytes type;     /* value of Content-Type */
    struct bytes encoding; /* value of Content-Encoding; empty: identity */
    /* Whole lines that 200, 206 and 304 have in common (RFC 9110 15.4.5):
     * validators, Vary, Cache-Control. */
    struct bytes fields;
    /* The body in memory. If NULL, the body is in the file `fd`. */
    const char *memory;
    int fd;
    enum part_kind file_kind; /* how the kernel sends the file */
};

/* Makes the delimiters of multipart bodies. They cannot be guessed, and no two
 * are the same. */
struct boundary {
    uint64_t secret;
    uint64_t count;
};

enum representation_answer {
    REPRESENTATION_WHOLE,  /* nothing was done: the caller sends all with 200 */
    REPRESENTATION_BODY,   /* answered with parts of the body, which must stay
                              until the response is over */
    REPRESENTATION_NO_BODY /* answered without the body */
};

/* A quick check for the hot path: true if no field of the request can change a
 * plain 200. Then representation_answer() would return REPRESENTATION_WHOLE. */
static inline bool representation_is_plain(const struct request *request)
{
    enum {
        FIELDS = 1u << FIELD_IF_MATCH | 1u << FIELD_IF_NONE_MATCH |
                 1u << FIELD_IF_MODIFIED_SINCE |
                 1u << FIELD_IF_UNMODIFIED_SINCE | 1u << FIELD_RANGE
    };

    return !(request->seen & FIELDS);
}

/* Answers 304 or 412 if the conditions of a request for a resource without
 * validators say so, and returns true: only "*" matches it (RFC 9110 13.1.1,
 * 13.1.2). `fields` are whole lines that the 304 has. */
MUST_USE bool representation_answer_unvalidated(
    struct bytes fields, struct exchange *exchange,
    const struct server_defaults *defaults);

enum representation_answer representation_answer(
    const struct representation *representation, struct exchange *exchange,
    const struct server_defaults *defaults, struct boundary *boundary);

/* Adds `len` bytes of the body to the response, from its byte `first` on. */
void representation_add_body(const struct representation *representation,
                             struct response *response, uint64_t first,
                             uint64_t len);

#endif
