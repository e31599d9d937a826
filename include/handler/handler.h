/*
 * handler - the contract of everything that turns requests into answers.
 *
 * A handler makes exchange->response at once, or sets exchange->pending, which
 * returns ANSWER_LATER until there is an answer (http/exchange.h). A body that
 * is made while it is sent comes from a source, which returns PIECE_LATER until
 * more of the body is ready (http/body.h). Meanwhile the connection only waits.
 * The handler wakes the connection when the answer or more body is ready.
 *
 * A request's body is read before the request is answered. A handler that wants
 * the body sets exchange->sink in `begin`; `answer` is called when the sink has
 * all of the body. If `begin` itself answers (413, 401), `answer` is not
 * called. A handler that sets no sink does not want the body: a short body is
 * read and discarded, a long one ends the connection.
 *
 * After `begin`, something in front of the handler may answer instead (a
 * password is wrong). The handler is not called then, and whoever answered
 * drops the sink. So a handler does nothing with a body before its `answer` was
 * called.
 *
 * Thread: each handler is one worker's, and holds no locks.
 * Owns:   nothing; whoever made `self` keeps it as long as requests come.
 */
#ifndef HANDLER_HANDLER_H
#define HANDLER_HANDLER_H

#include "http/exchange.h"

/* When the handler gets a path with "%2F". Some servers read "%2F" as a slash,
 * others as a character of a name. */
enum handler_slash {
    HANDLER_SLASH_NEVER,
    HANDLER_SLASH_ALIKE, /* only if both readings lead to the same place */
    HANDLER_SLASH_ALWAYS
};

struct handler {
    /* Makes exchange->response. Its members `persists` and is_head were set
     * before; `answer` may clear `persists`. `rest` is the part of
     * exchange->path behind the handler's own prefix: a clean path, empty or
     * beginning with '/', valid during the call. */
    void (*answer)(void *self, struct exchange *exchange, struct bytes rest);
    /* Called for a request with a body before the first byte of the body was
     * read. The parameters are those of `answer`. `begin` is NULL if the
     * handler wants no bodies. */
    void (*begin)(void *self, struct exchange *exchange, struct bytes rest);
    void *self;
    enum handler_slash slash;
};

#endif
