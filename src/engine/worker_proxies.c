#include <stdlib.h>

#include "engine/worker_priv.h"

void worker_proxies_retire(struct worker_proxies *proxies)
{
    for (size_t i = 0; proxies && i < proxies->count; i++) {
        upstream_probe_destroy(proxies->probes[i]);
        proxies->probes[i] = NULL;
    }
}

void worker_proxies_destroy(struct worker_proxies *proxies)
{
    worker_proxies_retire(proxies);
    for (size_t i = 0; proxies && i < proxies->count; i++)
        proxy_destroy(proxies->items[i]);
    free(proxies);
}

/* The last exchange of their sites has ended. */
static void on_gone(void *context)
{
    struct worker_proxies *proxies = context;
    void (*tell)(void *whom) = proxies->on_gone;
    void *whom = proxies->context;

    worker_proxies_destroy(proxies);
    if (tell)
        tell(whom);
}

static bool add(struct worker_proxies *proxies, struct worker *worker,
                const struct worker_proxy *wanted)
{
    struct proxy_options options = wanted->options;
    size_t at = proxies->count;

    options.style = &proxies->style;
    options.held = &worker->held;
    if (options.splices)
        options.pipes = &worker->pipes;
    for (size_t i = 0; i < options.upstream.server_count; i++)
        proxies->needs_resolver |= !options.upstream.places[i].unix_path;
    proxies->items[at] = proxy_create(&options);
    if (!proxies->items[at])
        return false;
    proxies->count++;
    /* One worker's probes are enough for all. */
    if (worker->options.number != 0 || wanted->probe.path.len == 0)
        return true;
    proxies->probes[at] =
        upstream_probe_create(&wanted->probe, options.upstream.places,
                              options.upstream.server_count,
                              upstream_balance(proxy_pool(proxies->items[at])));
    return proxies->probes[at];
}

struct worker_proxies *worker_proxies_create(struct worker *worker,
                                             struct worker_service *service)
{
    struct sites_options *sites = &service->sites;
    struct worker_proxies *proxies = calloc(1, sizeof(*proxies));

    if (!proxies)
        return NULL;
    proxies->style = sites->cache.style;
    proxies->on_gone = sites->on_gone;
    proxies->context = sites->context;
    for (size_t i = 0; i < service->proxied_count; i++) {
        const struct worker_proxy *wanted = &service->proxied[i];

        if (!add(proxies, worker, wanted)) {
            worker_proxies_destroy(proxies);
            return NULL;
        }
        proxies->proxied[i] = (struct proxied){
            .said_in = wanted->said_in,
            .prefix = wanted->prefix,
            .handler = proxy_handler(proxies->items[i])};
    }
    sites->proxied = proxies->proxied;
    sites->proxied_count = proxies->count;
    sites->on_gone = on_gone;
    sites->context = proxies;
    return proxies;
}

int worker_proxies_start(struct worker *worker, struct worker_proxies *proxies)
{
    struct resolver_options options = {.loop = worker->loop,
                                       .now = &worker->now};
    struct upstream_loop loop = {.loop = worker->loop, .now = &worker->now};
    int err = 0;

    if (!worker->resolver && proxies->needs_resolver)
        err = resolver_create(&worker->resolver, &options);
    loop.resolver = worker->resolver;
    for (size_t i = 0; i < proxies->count && err == 0; i++) {
        err = proxy_start(proxies->items[i], &loop);
        if (err == 0 && proxies->probes[i])
            err = upstream_probe_start(proxies->probes[i], &loop);
    }
    return err;
}
