/*
 * acme_problem - how a question to an authority went, and what is wrong, as it
 * is told in its JSON (RFC 8555 6.7).
 *
 * Thread: any; values only.
 */
#ifndef ACME_ACME_PROBLEM_H
#define ACME_ACME_PROBLEM_H

#include "acme/acme_http.h"
#include "base/json_read.h"

/* How a question went. */
enum acme_result {
    ACME_DONE,
    ACME_REFUSED, /* the authority does not want to: problem says why */
    ACME_FAILED   /* nobody answered, or what came cannot be understood */
};

/* What is wrong (RFC 8555 6.7). */
struct acme_problem {
    char type[64]; /* "rateLimited", behind urn:ietf:params:acme:error: */
    char text[ACME_FAULT_MAX];
    int64_t wait_s; /* it says when to come again; -1: it does not */
};

/* Copies a text of visible ASCII that fits into size with its NUL. False: value
 * is no such text. */
MUST_USE bool acme_text(const struct json_value *value, char *to, size_t size);

__attribute__((format(printf, 3, 4))) enum acme_result acme_tell(
    struct acme_problem *problem, enum acme_result result, const char *format,
    ...);

/* What a JSON document of a problem says; type is "" where it is none. */
void acme_problem_read(struct acme_problem *problem,
                       const struct json_value *json);

#endif
