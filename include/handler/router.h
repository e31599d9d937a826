/*
 * router - which handler answers: the one with the longest prefix of the path.
 *
 * Prefixes end where segments do: "/a" leads "/a" and "/a/b", not "/ab". What
 * is compared is the clean path, so that nobody gets past a prefix, or to it,
 * by another spelling. Paths that cannot be cleaned, and "*", lead nowhere.
 *
 * Thread: one per worker.
 * Owns:   nothing; prefixes and handlers are borrowed.
 */
#ifndef HANDLER_ROUTER_H
#define HANDLER_ROUTER_H

#include "handler/handler.h"
#include "http/http1.h"

enum { ROUTER_ROUTES_MAX = 16 };

struct route {
    struct bytes prefix;
    struct handler handler;
};

struct router {
    struct handler fallback; /* for what no prefix leads */
    size_t count;
    struct route routes[ROUTER_ROUTES_MAX]; /* longest first */
    char path[HTTP1_LINE_BYTES_MAX];        /* private */
};

void router_init(struct router *router, struct handler fallback);

/* prefix is a clean path of at least one segment, without a slash at its end;
 * not there yet. No more than ROUTER_ROUTES_MAX. */
void router_add(struct router *router, struct bytes prefix,
                struct handler handler);

/* For router_answer(): when there are prefixes. */
void router_choose(struct router *router, struct exchange *exchange);

static inline void router_answer(struct router *router,
                                 struct exchange *exchange)
{
    const struct handler *fallback = &router->fallback;

    if (router->count == 0) /* the usual server has files only */
        fallback->answer(fallback->self, exchange, exchange->request.path);
    else
        router_choose(router, exchange);
}

#endif
