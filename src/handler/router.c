#include "handler/router.h"

#include <assert.h>

#include "http/path.h"

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
    return route->is_exact ? bytes_eq(path, route->path)
                           : path_leads(route->path, path);
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
