#include "engine/worker_priv.h"

#include <stdlib.h>

#include "base/log.h"

struct worker_change {
    struct worker_service service;
    struct sites *sites;
    struct worker_proxies *proxies; /* proxies of the sites; NULL: none */
    struct status *status;
    struct tls_context *tls; /* this worker's; NULL: no listener speaks TLS */
    uint64_t number; /* counts the worker's changes; 0 is its first service */
};

void worker_discard(struct worker_change *change)
{
    if (!change)
        return;
    if (!change->sites)
        worker_proxies_destroy(change->proxies);
    sites_release(&change->sites); /* this ends the sites' proxies, too */
    tls_context_destroy(change->tls);
    free(change);
}

/* --- Making it ----------------------------------------------------------- */

static void add_mount(struct sites_options *sites, struct mount mount)
{
    sites->mounts[sites->mount_count++] = mount;
}

static void add_mounts(const struct worker *worker,
                       struct worker_service *service)
{
    struct sites_options *sites = &service->sites;

    for (size_t i = 0; i < worker->options.store_count; i++)
        add_mount(sites,
                  (struct mount){.prefix = worker->options.stores[i].prefix,
                                 .handler = kv_handler(worker->kvs[i].kv),
                                 .is_raw = true});
    if (service->status_prefix.len > 0)
        add_mount(sites, (struct mount){.prefix = service->status_prefix,
                                        .handler = sites->status});
}

/* Makes the password client and the status page, if `service` needs them and
 * they do not exist. The worker keeps both for all later services. Returns
 * false when there is no memory. */
static bool init_handlers(struct worker *worker,
                          const struct worker_service *service)
{
    struct status_options status = {.audience = service->status_audience,
                                    .stats = worker->options.shared_stats,
                                    .defaults = service->sites.cache.defaults,
                                    .history = worker->options.history};

    if (service->password_check && !worker->client &&
        password_client_create(&worker->client, service->password_check,
                               worker->mailbox) != 0)
        return false;
    if (service->has_status && !worker->made)
        worker->made = status_create(&status);
    return worker->made || !service->has_status;
}

/* Makes this worker's certificates and keys. Returns false, with the reason in
 * the log, when that fails. */
static bool make_tls(struct worker_change *change)
{
    struct tls_table *table = change->service.tls;
    char fault[TLS_FAULT_MAX];

    if (!table)
        return true;
    change->tls = tls_context_create(table, fault);
    if (!change->tls)
        log_error("TLS: %s", fault);
    return change->tls;
}

struct worker_change *worker_prepare(struct worker *worker,
                                     const struct worker_service *service)
{
    struct worker_change *change = calloc(1, sizeof(*change));
    struct sites_options *sites;

    if (!change)
        return NULL;
    change->service = *service;
    sites = &change->service.sites;
    sites->cache.defaults.now = &worker->now;
    sites->encoder = &worker->encoder;
    if (make_tls(change) && init_handlers(worker, &change->service)) {
        sites->client = worker->client;
        change->status = worker->made;
        if (worker->made)
            sites->status = status_handler(worker->made);
        add_mounts(worker, &change->service);
        if (service->proxied_count > 0)
            change->proxies = worker_proxies_create(worker, &change->service);
        if (change->proxies || service->proxied_count == 0)
            change->sites = sites_create(sites);
    }
    if (change->sites)
        return change;
    worker_discard(change);
    return NULL;
}

/* --- Taking it over ------------------------------------------------------ */

/* Adds the counts of the present sites, which will soon be gone, to
 * worker->earlier. */
static void add_counts(struct worker *worker)
{
    struct file_cache_counts counts = sites_count_files(worker->sites);

    worker->earlier.hits += counts.hits;
    worker->earlier.misses += counts.misses;
    worker->earlier.evictions += counts.evictions;
    worker->earlier.coded += counts.coded;
    worker->earlier.saved_bytes += counts.saved_bytes;
}

/* Replaces the sites and their proxies by those of `change`. */
static void take_sites(struct worker *worker, struct worker_change *change)
{
    if (worker->sites)
        add_counts(worker);
    worker_proxies_retire(worker->proxies);
    sites_release(&worker->sites);
    worker->sites = change->sites;
    worker->proxies = change->proxies;
    change->sites = NULL;
    change->proxies = NULL;
    worker->conns.shared.context.handler = sites_handler(worker->sites);
}

/* Gives up a change because of the error `err`; the worker stays as it is.
 * Returns `err`. If the worker serves nothing yet, on_gone is not called. */
static int refuse(const struct worker *worker, struct worker_change *change,
                  int err)
{
    log_error("worker %zu: its proxies cannot start: %s",
              worker->options.number, strerror(-err));
    if (!worker->sites)
        change->proxies->on_gone = NULL;
    worker_discard(change);
    return err;
}

void worker_apply(struct worker *worker, struct worker_change *change)
{
    change->number = ++worker->applied;
    worker_discard(atomic_exchange(&worker->change, change));
    mailbox_command(worker->mailbox, WORKER_CHANGE);
}

bool worker_has_changed(const struct worker *worker)
{
    return atomic_load(&worker->taken) == worker->applied;
}

bool worker_has_refused(const struct worker *worker)
{
    return worker->applied > 0 &&
           atomic_load(&worker->refused) == worker->applied;
}

/* Returns how answers of mounts are encoded. The top level of the configuration
 * decides this. */
static struct encode encode_of(struct worker *worker,
                               const struct worker_service *service)
{
    const struct location_options *top = service->sites.location;

    return (struct encode){.encoder = &worker->encoder,
                           .rules = top->compress_rules,
                           .codes_private = top->compress_private};
}

static void admit_to_store(struct worker *worker,
                           const struct worker_service *service, size_t number)
{
    struct encode encode = encode_of(worker, service);

    kv_admit(worker->kvs[number].kv, &service->kv_access);
    kv_encode(worker->kvs[number].kv, &encode);
}

/* Takes a change over. Returns 0, or -errno when nothing has changed. */
static int take(struct worker *worker, struct worker_change *change)
{
    struct conn_set *conns = &worker->conns;
    size_t connections_max = conns->shared.context.limits.connections_max;
    const struct worker_service *service;
    int err = 0;

    if (change->proxies)
        err = worker_proxies_start(worker, change->proxies);
    if (err != 0)
        return refuse(worker, change, err);
    service = &change->service;
    for (size_t i = 0; i < worker->options.store_count; i++)
        admit_to_store(worker, service, i);
    take_sites(worker, change);
    conns->shared.context.defaults = service->sites.cache.defaults;
    /* connections_max stays, since that much room was set aside at the
     * start. */
    conns->shared.context.limits = service->limits;
    conns->shared.context.limits.connections_max = connections_max;
    conns->shared.context.trust = service->sites.trust;
    conns->proxies = service->proxies;
    conns->proxies_introduce = service->proxies_introduce;
    tls_context_destroy(conns->shared
                            .tls); /* each connection has a reference */
    conns->shared.tls = change->tls;
    change->tls = NULL;
    worker->status = change->status;
    if (worker->status) {
        struct encode encode = encode_of(worker, service);

        status_show(worker->status, &service->status_audience,
                    service->upstreams, service->certificates);
        status_encode(worker->status, &encode);
    }
    worker_discard(change);
    return 0;
}

int worker_take_change(struct worker *worker)
{
    struct worker_change *change = atomic_exchange(&worker->change, NULL);
    uint64_t number;
    int err;

    if (!change) /* an earlier call has already taken the last change */
        return 0;
    number = change->number;
    err = take(worker, change);
    if (err != 0)
        atomic_store(&worker->refused, number);
    atomic_store(&worker->taken, number);
    return err;
}
