#include "process/generation_priv.h"

#include <stdlib.h>
#include <sysexits.h>

enum { SNAPSHOT_BYTES = 16384 }; /* measured by bench/crossover.py */

struct generation *generation_create(struct options *options,
                                     const struct generation *before,
                                     FILE *errors, int *status_out)
{
    struct generation *generation = calloc(1, sizeof(*generation));

    if (!generation) {
        fputs("sprintd: out of memory\n", errors);
        *status_out = EX_OSERR;
        return NULL;
    }
    generation->options = *options;
    *options = (struct options){0};
    atomic_init(&generation->refs, 1);
    *status_out = generation_open(generation, before, errors);
    if (*status_out == EX_OK)
        return generation;
    generation_release(generation);
    return NULL;
}

void generation_hold(struct generation *generation)
{
    atomic_fetch_add_explicit(&generation->refs, 1, memory_order_relaxed);
}

void generation_release(struct generation *generation)
{
    if (!generation || atomic_fetch_sub_explicit(&generation->refs, 1,
                                                 memory_order_acq_rel) > 1)
        return;
    generation_close(generation);
    options_fini(&generation->options);
    free(generation);
}

const struct options *generation_options(const struct generation *generation)
{
    return &generation->options;
}

struct credentials *generation_credentials(struct generation *generation)
{
    return &generation->credentials;
}

const struct proxies *generation_proxies(const struct generation *generation)
{
    return generation->proxies;
}

static void on_gone(void *context)
{
    generation_release(context);
}

static bool site_has_status(const struct site_options *site)
{
    bool has_status = site->options.status_page;

    for (size_t i = 0; i < site->location_count; i++)
        has_status |= site->locations[i].options.status_page;
    return has_status;
}

static bool has_status(const struct options *options)
{
    bool has_status = options->status.len > 0 || options->location.status_page;

    for (size_t i = 0; i < options->site_count; i++)
        has_status |= site_has_status(&options->sites[i]);
    return has_status;
}

void generation_lead_to(struct generation *generation, uint16_t https_port)
{
    generation->https_port = https_port;
}

static bool compresses(const struct location_options *location)
{
    return location->root &&
           (location->compress_rules || location->dictionary_rules);
}

bool generation_compresses(const struct generation *generation)
{
    const struct options *options = &generation->options;
    bool is_found = options->site_count == 0 && compresses(&options->location);

    if (options->cache_bytes == 0 || options->cache_entries == 0)
        return false;
    for (size_t i = 0; i < options->site_count && !is_found; i++) {
        const struct site_options *site = &options->sites[i];

        is_found = compresses(&site->options);
        for (size_t j = 0; j < site->location_count && !is_found; j++)
            is_found = compresses(&site->locations[j].options);
    }
    return is_found;
}

bool generation_has_passwords(const struct generation *generation)
{
    const struct opened *opened = generation->opened;

    while (opened && !opened->htpasswd)
        opened = opened->next;
    return opened;
}

struct worker_service generation_service(struct generation *generation,
                                         const struct mime *mime,
                                         size_t connections_max,
                                         size_t descriptors_max)
{
    const struct options *options = &generation->options;
    size_t proxy_count;
    const struct worker_proxy *proxies = proxies_list(generation->proxies,
                                                      &proxy_count);

    return (struct worker_service){
        .sites =
            {.sites = options->sites,
             .site_count = options->site_count,
             .location = &options->location,
             .roots = &generation->roots,
             .cache = {.mime = mime,
                       .defaults = {.server_field = !options->hides_server,
                                    .server_timing = options->server_timing},
                       .policy = (enum evict_policy)options->cache_policy,
                       .send_method = (enum send_method)options->send_method,
                       .bytes_max = options->cache_bytes,
                       .entries_max = (size_t)options->cache_entries,
                       .descriptors_max = descriptors_max,
                       .snapshot_bytes = SNAPSHOT_BYTES},
             .trust = generation->trust,
             .tls = credentials_table(&generation->credentials),
             .https_port = generation->https_port,
             .challenges = generation->challenges,
             .names_requests = options->request_id,
             .on_gone = on_gone,
             .context = generation},
        .tls = credentials_table(&generation->credentials),
        .status_prefix = options->status,
        .has_status = has_status(options),
        .status_audience = {.allowed = &options->status_allow,
                            .names = &generation->names,
                            .trust = &generation->trust},
        .kv_access = {.names = &generation->names,
                      .trust = &generation->trust,
                      .tokens = generation->tokens,
                      .open_writes = options->kv_open_writes,
                      .read_only = options->kv_read_only},
        .upstreams = proxies_upstreams(generation->proxies),
        .certificates = &generation->credentials.stats,
        .proxied = proxies,
        .proxied_count = proxy_count,
        .proxied_trust = generation->upstream_trust,
        .proxies = &options->trusted_proxies,
        .proxies_introduce = options->client_address ==
                             OPTIONS_CLIENT_PROXY_PROTOCOL,
        .limits = {.connections_max = connections_max,
                   .requests_max = (uint32_t)options->requests_max,
                   .keepalive_ms = options->keepalive_ms,
                   .header_ms = options->header_ms,
                   .body_ms = options->body_ms,
                   .send_ms = options->send_ms,
                   .send_rate_min = options->send_rate_min,
                   .quantum = options->chunk_bytes,
                   .prior_knowledge = options->http2 == OPTIONS_HTTP2_ALL}};
}
