/*
 * respond - gives the same answer to every request, by any method. CONNECT and
 * TRACE get 405 instead of a 2xx, which would mean something else to them.
 *
 * Thread: one per worker; no locks.
 * Owns:   its own memory. What the options point to is borrowed, and must
 *         outlive all responses.
 */
#ifndef HANDLER_RESPOND_H
#define HANDLER_RESPOND_H

#include "handler/handler.h"

enum { RESPOND_TEXT_MAX = 65536 };

struct respond_options {
    unsigned status;
    struct bytes type; /* value of Content-Type; empty: text/plain */
    struct bytes text; /* the body */
    struct server_defaults defaults;
};

/* Returns NULL, or what is wrong with `status`, `type` and `text`: a message
 * that the caller prints behind "respond". A text is wrong with 204 and 304,
 * which have no body. Statuses that need fields of their own (206, 416, 426,
 * redirects, interim ones) are wrong, too. */
MUST_USE const char *respond_check(const struct respond_options *options);

/* Returns the lines that an answer of that status must have: with 405 an empty
 * Allow, which says that no method is allowed (RFC 9110 10.2.1). */
struct bytes respond_fields(unsigned status);

struct respond; /* opaque */

/* `options` must have been checked. Returns NULL when there is no memory. */
MUST_USE struct respond *respond_create(const struct respond_options *options);
void respond_destroy(struct respond *respond);
struct handler respond_handler(struct respond *respond);

#endif
