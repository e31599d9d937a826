/*
 * acme_http - requests to an authority, by HTTPS and nothing else: one at a
 * time, each with an end in sight.
 *
 * Whatever the authority says is bounded: how long it may take, how many bytes
 * come, how long a field is. No redirect is followed (RFC 8555 has none), and
 * no proxy of the environment is asked unless it is told by https_proxy.
 *
 * Thread: its owner's; waits.
 * Owns:   the connection that is kept for the next request.
 */
#ifndef ACME_ACME_HTTP_H
#define ACME_ACME_HTTP_H

#include <stdint.h>

#include "base/buf.h"

enum {
    ACME_URL_MAX = 1024,
    ACME_NONCE_MAX = 512,
    ACME_BODY_MAX = 256 * 1024,
    ACME_HEAD_MAX = 64 * 1024,
    ACME_FAULT_MAX = 512,
    ACME_CONNECT_S = 10,
    ACME_ANSWER_S = 60,
    ACME_WAIT_MAX_S = 24 * 3600 /* of what Retry-After may ask for */
};

struct acme_http; /* opaque */

/* ca: a file of authorities to trust instead of the system's, or NULL. NULL: no
 * memory. */
MUST_USE struct acme_http *acme_http_create(const char *ca);
void acme_http_destroy(struct acme_http *http);

struct acme_request {
    const char *url;
    const struct bytes *body; /* a JWS; NULL: a GET */
    bool is_head;             /* without a body: a HEAD */
};

/* A text of the head is "" when it was not there, or too long. */
struct acme_answer {
    long status;
    struct buf body;
    char nonce[ACME_NONCE_MAX + 1];
    char location[ACME_URL_MAX + 1];
    char type[128];
    int64_t wait_s; /* of Retry-After; -1: none */
    size_t head_bytes;
    char fault[ACME_FAULT_MAX]; /* why there is no answer */
};

/* 0; or -EIO, and fault says why. acme_answer_fini() in any case. */
MUST_USE int acme_http_ask(struct acme_http *http,
                           const struct acme_request *request,
                           struct acme_answer *answer);
void acme_answer_fini(struct acme_answer *answer);

/* Reads a line of a head into the answer; what nobody asks for is passed over.
 * now_s: by which a date of Retry-After is judged. */
void acme_answer_take_line(struct acme_answer *answer, struct bytes line,
                           int64_t now_s);

#endif
