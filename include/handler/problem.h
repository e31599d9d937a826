/*
 * problem - what went wrong, for programs: application/problem+json (RFC 9457).
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
    PROBLEM_DETAIL_BYTES_MAX = 300, /* the rest is cut off */
    PROBLEM_TEXT_BYTES_MAX = 1024,  /* of a member; likewise */
    PROBLEM_MEMBERS_MAX = 4
};

struct problem {
    unsigned status;
    struct bytes detail; /* for people; may be empty */
    struct bytes fields; /* whole lines that the head gets besides */
    /* More about it, up to a name that is NULL. Text that is NULL: number. */
    struct problem_member {
        const char *name;
        struct bytes text; /* anything: what is no UTF-8 is told as U+FFFD */
        uint64_t number;
    } members[PROBLEM_MEMBERS_MAX];
};

/* Puts the answer in the place of whatever response there was to be. */
void problem_answer(struct response *response, const struct problem *problem,
                    const struct server_defaults *defaults);

#endif
