/*
 * problem - reports errors to programs: application/problem+json (RFC 9457).
 *
 *   {"type":"about:blank","title":"Bad Request","status":400,
 *    "detail":"...","parameter":"limt"}
 *
 * Thread: the worker's; no state.
 */
#ifndef HANDLER_PROBLEM_H
#define HANDLER_PROBLEM_H

#include "http/response.h"

enum {
    PROBLEM_DETAIL_BYTES_MAX = 300, /* a longer `detail` is cut off here */
    PROBLEM_TEXT_BYTES_MAX = 1024,  /* a longer text of a member is cut off */
    PROBLEM_MEMBERS_MAX = 4
};

struct problem {
    unsigned status;
    struct bytes detail; /* text for people; may be empty */
    struct bytes fields; /* whole lines to be added to the head */
    /* Further members. The list ends with the name NULL. The value of a member
     * is `text` or, if that is NULL, `number`. */
    struct problem_member {
        const char *name;
        struct bytes text; /* any bytes; invalid UTF-8 becomes U+FFFD */
        uint64_t number;
    } members[PROBLEM_MEMBERS_MAX];
};

/* Makes `response` the answer that reports the problem; an earlier response is
 * dropped. */
void problem_answer(struct response *response, const struct problem *problem,
                    const struct server_defaults *defaults);

#endif
