#include "server/generation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sysexits.h>

#include "backend/docroots.h"

enum { SNAPSHOT_BYTES = 16384 }; /* see bench/crossover.py */

struct generation {
    struct options options;
    struct docroots roots;
    atomic_uint refs;
};

/* --- Roots ---------------------------------------------------------------- */

static int explain_root(FILE *errors, const char *path, int err)
{
    fprintf(errors, "sprintd: DOCROOT '%s': %s%s\n", path, strerror(-err),
            err == -ENOENT ? "; name the directory to serve" : "");
    return err == -EACCES || err == -EPERM     ? EX_NOPERM
           : err == -ENOENT || err == -ENOTDIR ? EX_NOINPUT
                                               : EX_OSERR;
}

static int open_root(struct generation *generation,
                     const struct location_options *location, FILE *errors)
{
    const char *path = location->alias ? location->alias : location->root;
    int err = docroots_open(&generation->roots, &generation->options.arena,
                            path, location->follow_symlinks);

    return err == 0 ? EX_OK : explain_root(errors, path, err);
}

static int open_site_roots(struct generation *generation,
                           const struct site_options *site, FILE *errors)
{
    int status = open_root(generation, &site->options, errors);

    for (size_t i = 0; i < site->location_count && status == EX_OK; i++)
        status = open_root(generation, &site->locations[i].options, errors);
    return status;
}

static int open_roots(struct generation *generation, FILE *errors)
{
    const struct options *options = &generation->options;
    int status = EX_OK;

    if (options->site_count == 0)
        return open_root(generation, &options->location, errors);
    for (size_t i = 0; i < options->site_count && status == EX_OK; i++)
        status = open_site_roots(generation, &options->sites[i], errors);
    return status;
}

/* --- Coming and going ----------------------------------------------------- */

struct generation *generation_create(struct options *options, FILE *errors,
                                     int *status_out)
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
    *status_out = open_roots(generation, errors);
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
    docroots_close(&generation->roots);
    options_fini(&generation->options);
    free(generation);
}

const struct options *generation_options(const struct generation *generation)
{
    return &generation->options;
}

static void on_gone(void *context)
{
    generation_release(context);
}

struct worker_service generation_service(struct generation *generation,
                                         const struct mime *mime,
                                         size_t connections_max,
                                         size_t descriptors_max)
{
    const struct options *options = &generation->options;

    return (struct worker_service){
        .sites = {.sites = options->sites,
                  .site_count = options->site_count,
                  .location = &options->location,
                  .roots = &generation->roots,
                  .cache = {.mime = mime,
                            .style = {.server_field = !options->hides_server,
                                      .server_timing = options->server_timing},
                            .policy = (enum evict_policy)options->cache_policy,
                            .send_method =
                                (enum send_method)options->send_method,
                            .bytes_max = options->cache_bytes,
                            .entries_max = (size_t)options->cache_entries,
                            .descriptors_max = descriptors_max,
                            .snapshot_bytes = SNAPSHOT_BYTES},
                  .status_prefix = options->status,
                  .on_gone = on_gone,
                  .context = generation},
        .status_allowed = &options->status_allow,
        .limits = {.connections_max = connections_max,
                   .requests_max = (uint32_t)options->requests_max,
                   .keepalive_ms = options->keepalive_ms,
                   .header_ms = options->header_ms,
                   .body_ms = options->body_ms,
                   .send_ms = options->send_ms,
                   .send_rate_min = options->send_rate_min,
                   .quantum = options->chunk_bytes}};
}
