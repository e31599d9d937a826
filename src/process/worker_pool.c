#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "process/server_priv.h"

enum {
    PASSWORD_THREADS = 2,
    KV_BATCH_BYTES_MAX = 16 << 20,
    /* How long to wait until workers have changed their configuration. A turn
     * takes milliseconds, but a disk may be slow. The wait must not be longer,
     * since the main thread must also serve the watchdog; the watchdog's period
     * in the packaged service is ten times as long. */
    CHANGE_WAIT_MS = 2000,
    /* Default limits: long values that are being sent may take 1/KV_MEMORY_PART
     * of the memory. In addition, request bodies may take 1/KV_BODIES_PART of
     * the values' share. */
    KV_MEMORY_PART = 8,
    KV_BODIES_PART = 4
};

static void on_drained(void *context)
{
    const struct server *server = context;
    uint64_t one = 1;

    if (write(server->drained_fd, &one, sizeof(one)) == -1)
        log_error("eventfd: %s", strerror(errno));
}

static void on_changed(void *context)
{
    struct server *server = context;

    sem_post(&server->changed);
}

/* Returns the service of a generation for workers. */
static struct worker_service service_of(const struct server *server,
                                        struct generation *generation)
{
    struct worker_service service =
        generation_service(generation, server->mime,
                           server->limits.connections_max,
                           server->limits.cached_fds_max);

    service.password_check = server->password_check;
    service.sites.cache.compressor = server->compressor;
    service.sites.cache.dictionaries = server->dictionaries;
    return service;
}

/* Starts the threads that check passwords, if a site needs them and they do not
 * run yet. Returns 0 or -errno. */
static int prepare_passwords(struct server *server,
                             const struct generation *generation)
{
    if (server->password_check || !generation_has_passwords(generation))
        return 0;
    return password_check_create(&server->password_check, PASSWORD_THREADS);
}

/* Starts the threads that compress, if a location needs them and they do not
 * run yet. Returns 0 or -errno. */
static int prepare_compressor(struct server *server,
                              const struct generation *generation)
{
    if (server->compressor || !generation_compresses(generation))
        return 0;
    return compressor_create(&server->compressor,
                             (unsigned)server->options->compress_threads,
                             (unsigned)server->limits.workers,
                             server->statistics.shared->compress);
}

/* Starts all threads that workers need for a generation. Returns 0 or
 * -errno. */
static int prepare(struct server *server, const struct generation *generation)
{
    int err = prepare_passwords(server, generation);

    return err == 0 ? prepare_compressor(server, generation) : err;
}

/* --- Starting ------------------------------------------------------------ */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Limits the memory of values or bodies to the larger of `max` and `longest`:
 * even a small machine must have room for the longest value or body. If
 * `longest` is at most a quarter of `max`, a single address gets at most the
 * other three quarters. Otherwise there is no limit for an address. */
static void limit_memory(struct kv_memory *memory, uint64_t max,
                         uint64_t longest)
{
    memory->max = larger(max, longest);
    memory->each = max / 4 >= longest ? max - max / 4 : 0;
}

static void share_kv_memory(struct server *server)
{
    const struct options *options = server->options;
    uint64_t max = options->kv_memory_bytes > 0
                       ? options->kv_memory_bytes
                       : server->limits.memory_bytes / KV_MEMORY_PART;
    uint64_t longest = options->kv_value_bytes_max;
    uint64_t value = larger(longest, KV_LIST_BYTES);
    uint64_t body = larger(longest, KV_BATCH_BYTES_MAX);

    limit_memory(&server->kv_values, max, value);
    limit_memory(&server->kv_bodies, max / KV_BODIES_PART, body);
}

static struct kv_options kv_options_of(struct server *server)
{
    const struct options *options = server->options;

    return (struct kv_options){
        .value_bytes_max = (size_t)options->kv_value_bytes_max,
        .batch_bytes_max = KV_BATCH_BYTES_MAX,
        .bodies = &server->kv_bodies,
        .values = &server->kv_values,
        .watchers_max = (size_t)options->kv_watchers_max,
        .require_match = options->kv_require_match};
}

static struct worker_options worker_options_of(struct server *server)
{
    const struct options *options = server->options;

    return (struct worker_options){
        .service = service_of(server, server->generation),
        .shared_stats = server->statistics.shared,
        .history = server->statistics.history,
        .schedule = (enum sched_policy)options->schedule,
        .bounds = {options->starvation_bound, options->starvation_factor},
        .link = &server->link,
        .streams_max = (size_t)options->compress_streams,
        .pipes_max = server->limits.pipes_max,
        .addresses = server->addresses,
        .stores = server->stores.items,
        .store_count = server->stores.count,
        .cache = server->cache,
        .kv = kv_options_of(server),
        .access_log = &server->access_log,
        .is_profiled = options->profile,
        .is_crowded = server->limits.workers > server->limits.cpus,
        .on_drained = on_drained,
        .on_changed = on_changed,
        .context = server};
}

/* Creates `count` workers, or fewer if memory or descriptors run out. */
static void create_workers(struct server *server, size_t count)
{
    struct worker_options options = worker_options_of(server);

    server->workers = calloc(count, sizeof(struct worker *));
    while (server->workers && server->worker_count < count) {
        struct worker *worker;

        options.number = server->worker_count;
        options.stats =
            &server->statistics.shared->workers[server->worker_count];
        worker = worker_create(&options);
        if (!worker)
            return;
        generation_hold(server->generation); /* the worker's own reference */
        server->workers[server->worker_count++] = worker;
    }
}

static int start_all(struct server *server)
{
    int err = 0;

    while (err == 0 && server->started < server->worker_count) {
        err = worker_start(server->workers[server->started]);
        if (err == 0)
            server->started++;
    }
    return err == 0 ? acceptor_start(server->acceptor) : err;
}

int worker_pool_start(struct server *server)
{
    size_t count = server->limits.workers;
    struct acceptor_options acceptor_options = {
        .listeners = server->listeners,
        .listener_count = server->listener_count,
        .worker_count = count,
        .connections_max = server->limits.connections_max,
        .addresses = server->addresses,
        .stats = &server->statistics.shared->acceptor,
        .is_profiled = server->options->profile};
    int err = access_log_start(&server->access_log, count);
    int status = stores_open(&server->stores, server->options);

    if (status == EX_OK)
        status = proxy_cache_open(&server->cache, server->options,
                                  server->limits.kept_files_max,
                                  server->readiness.is_successor);
    if (status != EX_OK)
        return status;
    server->statistics.cache = server->cache;
    share_kv_memory(server);
    if (err == 0 && server->dictionaries)
        err = dictionary_store_start(server->dictionaries);
    if (err == 0)
        err = prepare(server, server->generation);
    if (err == 0)
        create_workers(server, count);
    acceptor_options.workers = server->workers;
    if (err == 0 && server->worker_count == count)
        server->acceptor = acceptor_create(&acceptor_options);
    if (server->acceptor && (err = start_all(server)) == 0)
        return EX_OK;
    acceptor_destroy(server->acceptor);
    server->acceptor = NULL;
    fprintf(stderr, "sprintd: cannot start %zu workers: %s\n", count,
            err != 0 ? strerror(-err) : "out of memory or descriptors");
    return EX_OSERR;
}

/* --- Telling ------------------------------------------------------------- */

void worker_pool_command(const struct server *server, unsigned commands)
{
    for (size_t i = 0; i < server->started; i++)
        worker_command(server->workers[i], commands);
}

int worker_pool_change(struct server *server, struct generation *generation)
{
    struct worker_service service;
    size_t count = server->worker_count;
    struct worker_change **changes;
    size_t made = 0;
    int err = prepare(server, generation);

    if (err != 0)
        return err;
    service = service_of(server, generation);
    changes = calloc(count, sizeof(*changes));
    while (changes && made < count) {
        generation_hold(generation);
        changes[made] = worker_prepare(server->workers[made], &service);
        if (!changes[made]) {
            generation_release(generation);
            break;
        }
        made++;
    }
    for (size_t i = 0; i < made; i++) {
        if (made == count)
            worker_apply(server->workers[i], changes[i]);
        else
            worker_discard(changes[i]);
    }
    free(changes);
    return made == count ? 0 : -ENOMEM;
}

static bool have_changed(const struct server *server)
{
    for (size_t i = 0; i < server->worker_count; i++)
        if (!worker_has_changed(server->workers[i]))
            return false;
    return true;
}

bool worker_pool_await(struct server *server)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += CHANGE_WAIT_MS / MS_PER_S;
    while (!have_changed(server))
        if (sem_clockwait(&server->changed, CLOCK_MONOTONIC, &until) == -1 &&
            errno != EINTR)
            return have_changed(server);
    return true;
}

size_t worker_pool_count_refused(const struct server *server)
{
    size_t count = 0;

    for (size_t i = 0; i < server->worker_count; i++)
        count += worker_has_refused(server->workers[i]);
    return count;
}

/* --- Ending -------------------------------------------------------------- */

void worker_pool_close_door(struct server *server)
{
    if (server->shutdown_mode == SERVER_LEAVES)
        acceptor_leave(server->acceptor);
    else
        acceptor_stop(server->acceptor);
}

void worker_pool_join(struct server *server)
{
    if (server->started > 0 && !server->acceptor)
        worker_pool_command(server, WORKER_STOP); /* the start has failed */
    acceptor_destroy(server->acceptor);
    for (size_t i = 0; i < server->started; i++)
        worker_join(server->workers[i]);
    if (server->password_check)
        password_check_stop(server->password_check);
    if (server->compressor)
        compressor_stop(server->compressor);
    if (server->dictionaries)
        dictionary_store_stop(server->dictionaries);
    stores_stop(&server->stores);
    cache_store_stop(server->cache);
}

void worker_pool_free(struct server *server)
{
    for (size_t i = 0; i < server->worker_count && server->workers; i++)
        worker_destroy(server->workers[i]);
    free(server->workers);
    password_check_destroy(server->password_check);
    compressor_destroy(server->compressor);
    dictionary_store_close(server->dictionaries);
    stores_close(&server->stores);
    cache_store_destroy(server->cache);
    server->cache = NULL;
    address_count_destroy(server->addresses);
}
