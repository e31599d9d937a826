/*
 * router - finds the route of a path: the route for exactly this path, or else
 * the route with the longest prefix of the path.
 *
 * Prefixes end where segments end: "/a" is a prefix of "/a" and "/a/b", not of
 * "/ab". Only clean paths are compared (http/path.h), so that no other spelling
 * of a path escapes its prefix or reaches another.
 *
 * Thread: filled by one thread; afterwards any thread may read.
 * Owns:   nothing; routes, paths and places are borrowed.
 */
#ifndef HANDLER_ROUTER_H
#define HANDLER_ROUTER_H

#include "base/bytes.h"

struct route {
    struct bytes path; /* clean; a prefix has no slash at its end */
    bool is_exact;
    void *place;
};

struct router {
    size_t count;
    struct route *routes; /* exact ones, then prefixes, the longest first */
};

/* Adds a route to router->routes, which must have room. Of two routes with the
 * same path, the first counts. */
void router_add(struct router *router, const struct route *route);

/* Returns the route, or NULL if no route fits. *rest_out is the part of `path`
 * behind the prefix: empty, or beginning with '/'. */
const struct route *router_find(const struct router *router, struct bytes path,
                                struct bytes *rest_out);

#endif
