/*
 * respond - the same answer to whoever asks, by any method.
 *
 * Thread: one per worker; no locks.
 * Owns:   its own memory; what options point to is borrowed, and must stay as
 *         long as responses are sent.
 */
#ifndef HANDLER_RESPOND_H
#define HANDLER_RESPOND_H

#include "handler/handler.h"

enum { RESPOND_TEXT_MAX = 65536 };

struct respond_options {
    unsigned status;
    struct bytes type; /* Content-Type; empty: plain text */
    struct bytes text; /* the body */
    struct server_defaults defaults;
};

/* NULL, or what is wrong with status, type and text, as words to put behind
 * "respond". 204 and 304 have no body; what means nothing without fields of
 * its own (206, 416, redirects, interim answers) is refused. */
MUST_USE const char *respond_check(const struct respond_options *options);

struct respond; /* opaque */

/* options have been checked. NULL: no memory. */
MUST_USE struct respond *respond_create(const struct respond_options *options);
void respond_destroy(struct respond *respond);
struct handler respond_handler(struct respond *respond);

#endif
