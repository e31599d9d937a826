/*
 * origin_request - a request as an origin reads it: by the letter (RFC 9112),
 * and as only a proxy that makes its messages anew would send it.
 *
 *   HEAD --> BODY (length)                     --> whole
 *        --> SIZE --> BODY --> CRLF --> SIZE
 *              +--> TRAILER                    --> whole
 *
 * Thread: the origin's.
 * Owns:   nothing.
 */
#ifndef E2E_ORIGIN_REQUEST_H
#define E2E_ORIGIN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORIGIN_METHOD_MAX = 32, ORIGIN_TARGET_MAX = 8192 };

enum origin_state {
    ORIGIN_HEAD,
    ORIGIN_SIZE,
    ORIGIN_BODY,
    ORIGIN_CRLF,
    ORIGIN_TRAILER,
    ORIGIN_WHOLE
};

struct origin_request {
    enum origin_state state;
    bool is_chunked;
    uint64_t left; /* of the body, or the chunk */
    char method[ORIGIN_METHOD_MAX];
    char target[ORIGIN_TARGET_MAX];
};

/* Goes on at text. How many bytes of it are done with; of these *body_out, the
 * last, are of the body. 0: more is needed, or it is whole, or there is a
 * *fault_out, not NULL then. */
size_t origin_request_read(struct origin_request *request, const char *text,
                           size_t len, size_t *body_out,
                           const char **fault_out);

#endif
