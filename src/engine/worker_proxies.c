#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
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
    for (size_t i = 0; proxies && i < proxies->count; i++) {
        cached_destroy(proxies->cached[i]);
        proxy_destroy(proxies->items[i]);
    }
    if (proxies)
        tls_connector_destroy(proxies->tls);
    free(proxies);
}

static void end(struct worker_proxies *proxies)
{
    void (*tell)(void *whom) = proxies->on_gone;
    void *whom = proxies->context;

    worker_proxies_destroy(proxies);
    if (tell)
        tell(whom);
}

static bool are_needed(const struct worker_proxies *proxies)
{
    for (size_t i = 0; proxies && i < proxies->count; i++)
        if (proxies->cached[i] && cached_is_needed(proxies->cached[i]))
            return true;
    return false;
}

bool worker_proxies_are_needed(const struct worker *worker)
{
    const struct worker_proxies *leaving = worker->leaving;

    while (leaving && !are_needed(leaving))
        leaving = leaving->next_leaving;
    return leaving || are_needed(worker->proxies);
}

static void tick(const struct worker_proxies *proxies)
{
    for (size_t i = 0; proxies && i < proxies->count; i++)
        if (proxies->cached[i])
            cached_tick(proxies->cached[i]);
}

void worker_proxies_tick(const struct worker *worker)
{
    for (const struct worker_proxies *leaving = worker->leaving; leaving;
         leaving = leaving->next_leaving)
        tick(leaving);
    tick(worker->proxies);
}

void worker_proxies_end_leaving(struct worker *worker)
{
    while (worker->leaving) {
        struct worker_proxies *proxies = worker->leaving;

        worker->leaving = proxies->next_leaving;
        end(proxies);
    }
}

/* Called when a fetch has ended. Destroys leaving proxies when no other worker
 * wants any of their fetches. */
static void on_fetch_over(void *context)
{
    struct worker_proxies *proxies = context;
    struct worker_proxies **link = &proxies->worker->leaving;

    if (!proxies->is_leaving || are_needed(proxies))
        return;
    while (*link != proxies)
        link = &(*link)->next_leaving;
    *link = proxies->next_leaving;
    end(proxies);
}

/* Called when the last exchange of the proxies' sites has ended. Proxies that
 * are still needed go to the list worker->leaving. */
static void on_gone(void *context)
{
    struct worker_proxies *proxies = context;

    if (!are_needed(proxies)) {
        end(proxies);
        return;
    }
    proxies->is_leaving = true;
    proxies->next_leaving = proxies->worker->leaving;
    proxies->worker->leaving = proxies;
}

static void hear(void *context, const struct exchange *exchange,
                 const struct reply *reply, const struct relay *relay)
{
    cached_note_reply(context, exchange, reply, relay);
}

/* Puts a cache before a proxy, if answers are kept. Returns false when there is
 * no memory. */
static bool add_cached(struct worker_proxies *proxies, struct worker *worker,
                       const struct worker_proxy *wanted, size_t at)
{
    struct cached_options options = wanted->cached;

    if (!worker->options.cache)
        return true;
    options.inner = proxy_handler(proxies->items[at]);
    options.store = worker->options.cache;
    options.port = &worker->cache_port;
    options.counts = worker->options.stats->kept;
    options.defaults = &proxies->defaults;
    options.on_fetch_over = on_fetch_over;
    options.context = proxies;
    proxies->cached[at] = cached_create(&options);
    if (!proxies->cached[at])
        return false;
    proxy_report(proxies->items[at], hear, proxies->cached[at]);
    return true;
}

static bool add(struct worker_proxies *proxies, struct worker *worker,
                const struct worker_proxy *wanted)
{
    struct proxy_options options = wanted->options;
    size_t at = proxies->count;

    options.defaults = &proxies->defaults;
    options.held = &worker->held;
    options.upstream.tls = proxies->tls;
    if (options.splices)
        options.pipes = &worker->pipes;
    for (size_t i = 0; i < options.upstream.server_count; i++)
        proxies->needs_resolver |= !options.upstream.endpoints[i].unix_path;
    proxies->items[at] = proxy_create(&options);
    if (!proxies->items[at])
        return false;
    proxies->count++;
    if (!add_cached(proxies, worker, wanted, at))
        return false;
    /* The probes of one worker are enough for all workers. */
    if (worker->options.number != 0 || wanted->probe.path.len == 0)
        return true;
    proxies->probes[at] =
        upstream_probe_create(&wanted->probe, options.upstream.endpoints,
                              options.upstream.server_count,
                              upstream_balance(proxy_pool(proxies->items[at])),
                              proxies->tls);
    return proxies->probes[at];
}

/* Makes the TLS connector of all proxies of one configuration, which trust the
 * same authorities. Returns false, with the reason in the log, when that
 * fails. */
static bool make_tls(struct worker_proxies *proxies,
                     const struct worker_service *service)
{
    char fault[TLS_FAULT_MAX];

    if (!service->proxied_trust)
        return true;
    proxies->tls = tls_connector_create(service->proxied_trust, fault);
    if (!proxies->tls)
        log_error("TLS with upstreams: %s", fault);
    return proxies->tls;
}

struct worker_proxies *worker_proxies_create(struct worker *worker,
                                             struct worker_service *service)
{
    struct sites_options *sites = &service->sites;
    struct worker_proxies *proxies = calloc(1, sizeof(*proxies));

    if (!proxies)
        return NULL;
    proxies->worker = worker;
    proxies->defaults = sites->cache.defaults;
    proxies->on_gone = sites->on_gone;
    proxies->context = sites->context;
    if (!make_tls(proxies, service)) {
        worker_proxies_destroy(proxies);
        return NULL;
    }
    for (size_t i = 0; i < service->proxied_count; i++) {
        const struct worker_proxy *wanted = &service->proxied[i];

        if (!add(proxies, worker, wanted)) {
            worker_proxies_destroy(proxies);
            return NULL;
        }
        proxies->proxied[i] = (struct proxied){
            .said_in = wanted->said_in,
            .prefix = wanted->prefix,
            .handler = proxies->cached[i] ? cached_handler(proxies->cached[i])
                                          : proxy_handler(proxies->items[i]),
            .uncached = proxy_handler(proxies->items[i])};
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
    if (!worker->upstream_tls && proxies->tls && err == 0) {
        worker->upstream_tls = tls_buffers_create();
        err = worker->upstream_tls ? 0 : -ENOMEM;
    }
    loop.tls_buffers = worker->upstream_tls;
    for (size_t i = 0; i < proxies->count && err == 0; i++) {
        err = proxy_start(proxies->items[i], &loop);
        if (err == 0 && proxies->probes[i])
            err = upstream_probe_start(proxies->probes[i], &loop);
    }
    return err;
}
