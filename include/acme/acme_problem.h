/*
 * acme_problem - how a request to an authority ended, and the problem that its
 * JSON describes (RFC 8555 6.7).
 *
 * Thread: any; values only.
 */
#ifndef ACME_ACME_PROBLEM_H
#define ACME_ACME_PROBLEM_H

#include "acme/acme_http.h"
#include "base/json_read.h"

/* How a request ended. */
enum acme_result {
    ACME_DONE,
    ACME_REFUSED, /* the authority refused; the acme_problem says why */
    ACME_FAILED   /* no answer, or an invalid one */
};

/* A problem document (RFC 8555 6.7). */
struct acme_problem {
    char type[64]; /* without "urn:ietf:params:acme:error:" in front */
    char text[ACME_FAULT_MAX];
    int64_t wait_s; /* seconds until the next try; -1: not said */
};

/* Copies a JSON string and a NUL to `to`, which has `size` bytes. Returns false
 * if they do not fit, or if `value` is no string, is empty, or contains other
 * characters than visible ASCII. */
MUST_USE bool acme_text(const struct json_value *value, char *to, size_t size);

/* Writes a message into `problem`, and returns `result`. */
__attribute__((format(printf, 3, 4))) enum acme_result acme_tell(
    struct acme_problem *problem, enum acme_result result, const char *format,
    ...);

/* Reads a problem from JSON. problem->type becomes "" if the JSON is not an
 * ACME problem. */
void acme_problem_read(struct acme_problem *problem,
                       const struct json_value *json);

#endif
