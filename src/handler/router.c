#include "handler/router.h"

#include <assert.h>

#include "http/path.h"

void router_init(struct router *router, struct handler fallback)
{
    router->fallback = fallback;
    router->count = 0;
}

void router_add(struct router *router, struct bytes prefix,
                struct handler handler)
{
    size_t at = router->count++;

    assert(at < ROUTER_ROUTES_MAX && prefix.len > 1 && *prefix.data == '/' &&
           prefix.data[prefix.len - 1] != '/');
    for (; at > 0 && router->routes[at - 1].prefix.len < prefix.len; at--)
        router->routes[at] = router->routes[at - 1];
    router->routes[at] = (struct route){prefix, handler};
}

static bool leads(struct bytes prefix, struct bytes path)
{
    return path.len >= prefix.len &&
           memcmp(path.data, prefix.data, prefix.len) == 0 &&
           (path.len == prefix.len || path.data[prefix.len] == '/');
}

void router_choose(struct router *router, struct exchange *exchange)
{
    const struct handler *handler = &router->fallback;
    struct bytes raw = exchange->request.path;
    struct bytes rest = raw;
    struct path path;
    bool is_clean = raw.len <= sizeof(router->path) &&
                    path_clean(raw, router->path, &path);

    for (size_t i = 0; is_clean && i < router->count; i++) {
        const struct route *route = &router->routes[i];

        if (leads(route->prefix, path.clean)) {
            handler = &route->handler;
            rest = bytes_between(path.clean.data + route->prefix.len,
                                 path.clean.data + path.clean.len);
            break;
        }
    }
    handler->answer(handler->self, exchange, rest);
}
