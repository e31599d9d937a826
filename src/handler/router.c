#include "handler/router.h"

#include <assert.h>

static bool goes_before(const struct route *a, const struct route *b)
{
    if (a->is_exact != b->is_exact)
        return a->is_exact;
    return a->path.len > b->path.len;
}

void router_add(struct router *router, const struct route *route)
{
    size_t at = router->count++;

    assert(route->is_exact || route->path.len == 0 ||
           route->path.data[route->path.len - 1] != '/');
    for (; at > 0 && goes_before(route, &router->routes[at - 1]); at--)
        router->routes[at] = router->routes[at - 1];
    router->routes[at] = *route;
}

static bool leads(const struct route *route, struct bytes path)
{
    struct bytes prefix = route->path;

    return path.len >= prefix.len &&
           memcmp(path.data, prefix.data, prefix.len) == 0 &&
           (path.len == prefix.len ||
            (!route->is_exact && path.data[prefix.len] == '/'));
}

const struct route *router_find(const struct router *router, struct bytes path,
                                struct bytes *rest_out)
{
    for (size_t i = 0; i < router->count; i++) {
        const struct route *route = &router->routes[i];

        if (leads(route, path)) {
            *rest_out = bytes_between(path.data + route->path.len,
                                      path.data + path.len);
            return route;
        }
    }
    return NULL;
}
