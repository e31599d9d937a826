/*
 * acme_http - sends requests to an authority, over HTTPS only, one at a time,
 * each with a time limit.
 *
 * Answers are limited in time, bytes and length of each field. Redirects are
 * not followed (RFC 8555 has none). Only the environment variable https_proxy
 * can name a proxy.
 *
 * Thread: the owner's; functions wait for the network.
 * Owns:   the connection, which is kept for the next request.
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
    ACME_WAIT_MAX_S = 24 * 3600 /* the most that Retry-After can ask for */
};

struct acme_http; /* opaque */

/* Creates an acme_http without a connection. If `ca` is not NULL, the
 * certificates in that file are trusted instead of the system's. Returns NULL
 * if there is no memory. */
MUST_USE struct acme_http *acme_http_create(const char *ca);
void acme_http_destroy(struct acme_http *http);

struct acme_request {
    const char *url;
    const struct bytes *body; /* the JWS to post; NULL: a GET */
    bool is_head;             /* send a HEAD, which has no body */
};

/* An answer. Its members `nonce`, `location` and `type` are copies of fields of
 * the head; each is "" if its field is missing or too long. */
struct acme_answer {
    long status;
    struct buf body;
    char nonce[ACME_NONCE_MAX + 1];
    char location[ACME_URL_MAX + 1];
    char type[128];
    int64_t wait_s; /* seconds from Retry-After; -1: none */
    size_t head_bytes;
    char fault[ACME_FAULT_MAX]; /* why there is no answer, or "" */
};

/* Sends a request and waits for the answer. Returns 0, or -EIO with the reason
 * in answer->fault. The caller calls acme_answer_fini() in both cases. */
MUST_USE int acme_http_ask(struct acme_http *http,
                           const struct acme_request *request,
                           struct acme_answer *answer);
void acme_answer_fini(struct acme_answer *answer);

/* Reads a line of a head into the answer; ignores unneeded fields. A date in
 * Retry-After is compared with the current time, now_s. */
void acme_answer_take_line(struct acme_answer *answer, struct bytes line,
                           int64_t now_s);

#endif
