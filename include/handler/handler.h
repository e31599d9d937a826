/*
 * handler - the contract: whoever turns a request into an answer.
 *
 * A handler makes exchange->response at once, or sets exchange->pending, which
 * says ANSWER_LATER until there is an answer (http/exchange.h). A body that is
 * made while it is sent comes from a source, which says PIECE_LATER until there
 * is more of it (http/body.h). Meanwhile the connection waits without work, and
 * whatever made the wait end wakes it.
 *
 * A body comes first. A handler that wants it says so in begin: it sets
 * exchange->sink, which has all of the body when answer is called. What begin
 * answers (413, 401) is answered without the body, and answer is not called;
 * nor is it wanted where nothing is said. A short body is read and thrown away
 * then, a long one ends the connection.
 *
 * A sink is its handler's promise to answer. Where begin let an exchange pass
 * and somebody in front of the handler answers after all (a password is wrong),
 * the handler is not asked: the one that answers drops the sink, and the
 * handler does nothing with a body as long as its own answer has not been
 * called.
 *
 * Thread: handlers are one worker's each and hold no locks.
 * Owns:   nothing; whoever made self keeps it for as long as requests come.
 */
#ifndef HANDLER_HANDLER_H
#define HANDLER_HANDLER_H

#include "http/exchange.h"

/* Whether the handler gets paths with an encoded slash, which some take for a
 * slash and some for a part of a name. */
enum handler_slash {
    HANDLER_SLASH_NEVER,
    HANDLER_SLASH_ALIKE, /* where it is the same to all that is told here */
    HANDLER_SLASH_ALWAYS
};

struct handler {
    /* Makes exchange->response, whose persists and is_head are
     * set; it may clear persists. rest is what exchange->path has behind that
     * which leads to this handler: clean, and empty or beginning with '/',
     * while the call lasts. */
    void (*answer)(void *self, struct exchange *exchange, struct bytes rest);
    /* When a request has a body, before the first byte of it is looked at;
     * exchange is as for answer. NULL: no body is wanted. */
    void (*begin)(void *self, struct exchange *exchange, struct bytes rest);
    void *self;
    enum handler_slash slash;
};

#endif
