/*
 * router - which of several places a path belongs to: the one that names
 * exactly this path, else the one with its longest prefix.
 *
 * Prefixes end where segments do: "/a" leads "/a" and "/a/b", not "/ab". What
 * is compared is the clean path (http/path.h), so that nobody gets past a
 * prefix, or to it, by another spelling.
 *
 * Thread: any may look; it is filled before.
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
    struct route *routes; /* exact ones first, then the longest */
};

/* Puts route among the others, for whom routes has room; of two with the same
 * path the first counts. */
void router_add(struct router *router, const struct route *route);

/* NULL: none. *rest_out is what is left of path behind a prefix: empty, or it
 * begins with '/'. */
const struct route *router_find(const struct router *router, struct bytes path,
                                struct bytes *rest_out);

#endif
