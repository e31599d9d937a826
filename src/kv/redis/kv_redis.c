#include "kv/redis/kv_redis.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "kv/redis/kv_redis_priv.h"

enum { TIMEOUT_MS = 5000, CALLS_MAX = 1 << 14 };

#define BYTES_MAX_USUAL ((size_t)256 << 20)

/* Finds the addresses of a seed's name. This function blocks, and is called
 * only when the store is opened. */
static void resolve(struct kv_redis *store, size_t number)
{
    const struct kv_redis_seed *seed = &store->url.seeds[number];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(seed->host, NULL, &hints, &found);

    if (rc != 0)
        log_warning("the key-value store at '%s': %s", seed->host,
                    gai_strerror(rc));
    for (struct addrinfo *at = found;
         at && store->seed_count < sizeof(store->seeds) / sizeof(*store->seeds);
         at = at->ai_next) {
        struct address *address = &store->seeds[store->seed_count];

        store->hosts[store->seed_count++] = (uint8_t)number;

        address_from(address, at->ai_addr);
        address->port = seed->port;
    }
    if (found)
        freeaddrinfo(found);
}

static void name_keys(struct kv_redis *store)
{
    kv_partitions_init(&store->partitions);
    for (size_t i = 0; i < KV_REDIS_PARTITIONS; i++)
        snprintf(store->bases[i], sizeof(store->bases[i]),
                 "%s:{%s}:", store->url.name, store->partitions.tags[i]);
}

int kv_redis_open(struct kv_redis **store_out,
                  const struct kv_redis_options *options)
{
    struct kv_redis *store = calloc(1, sizeof(*store));
    const struct kv_redis_seed *first;
    int err = -EINVAL;

    if (!store)
        return -ENOMEM;
    store->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
    store->calls_max = options->calls_max ? options->calls_max : CALLS_MAX;
    store->bytes_max = options->bytes_max ? options->bytes_max
                                          : BYTES_MAX_USUAL;
    if (kv_redis_url_read(&store->url, options->url))
        goto close;
    first = &store->url.seeds[0];
    snprintf(store->label, sizeof(store->label), "%s://%s:%u%s",
             store->url.is_tls ? "rediss" : "redis", first->host,
             (unsigned)first->port, store->url.seed_count > 1 ? ",..." : "");
    err = -EHOSTUNREACH;
    for (size_t i = 0; i < store->url.seed_count; i++)
        resolve(store, i);
    if (store->seed_count == 0)
        goto close;
    name_keys(store);
    if (store->url.is_tls)
        store->trust = tls_trust_acquire(options->trust);
    *store_out = store;
    return 0;

close:
    kv_redis_close(store);
    return err;
}

void kv_redis_close(struct kv_redis *store)
{
    if (!store)
        return;
    if (store->trust)
        tls_trust_release(&store->trust);
    explicit_bzero(&store->url, sizeof(store->url));
    free(store);
}

void kv_redis_count(const struct kv_redis *store,
                    struct kv_redis_counts *counts)
{
    *counts = (struct kv_redis_counts){.calls = store->calls,
                                       .redirected = store->redirected,
                                       .repeated = store->repeated,
                                       .timeouts = store->timeouts,
                                       .unreachable = store->unreachable,
                                       .connects = store->connects};
}
