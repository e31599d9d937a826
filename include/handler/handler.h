/*
 * handler - the contract of all that turn requests into answers.
 *
 * A handler makes exchange->response at once, or sets exchange->pending, which
 * returns ANSWER_LATER until there is an answer (http/exchange.h). A body that
 * is made while it is sent comes from a source, which returns PIECE_LATER until
 * there is more (http/body.h). Meanwhile the connection only waits; the handler
 * wakes it when there is more.
 *
 * A request's body is read before it is answered. A handler that wants it sets
 * exchange->sink in begin; answer is called when the sink has all of the body.
 * If begin answers itself (413, 401), answer is not called. Without a sink the
 * body is not wanted: a short one is read and discarded, a long one ends the
 * connection.
 *
 * If something in front of the handler answers after begin (a password is
 * wrong), the handler is not called: that answerer drops the sink. So a handler
 * does nothing with a body before its answer was called.
 *
 * Thread: each handler is one worker's, and holds no locks.
 * Owns:   nothing; the maker of self keeps it as long as requests come.
 */
#ifndef HANDLER_HANDLER_H
#define HANDLER_HANDLER_H

#include "http/exchange.h"

/* Whether the handler gets paths with an encoded slash, which some servers take
 * for a slash, and others for a part of a name. */
enum handler_slash {
    HANDLER_SLASH_NEVER,
    HANDLER_SLASH_ALIKE, /* if both readings lead to the same place */
    HANDLER_SLASH_ALWAYS
};

struct handler {
    /* Makes exchange->response, whose persists and is_head are set; it may
     * clear persists. rest is the part of exchange->path behind the handler's
     * own prefix: clean, empty or beginning with '/', valid during the call. */
    void (*answer)(void *self, struct exchange *exchange, struct bytes rest);
    /* Called for a request with a body before its first byte was read;
     * parameters as for answer. NULL: bodies are not wanted. */
    void (*begin)(void *self, struct exchange *exchange, struct bytes rest);
    void *self;
    enum handler_slash slash;
};

#endif
