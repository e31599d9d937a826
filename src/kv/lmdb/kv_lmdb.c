#include "kv/lmdb/kv_lmdb.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

enum {
    QUEUE_WRITES = 1 << 16,
    QUEUE_BYTES = 1 << 28,
    DEFAULT_MS = 1000,
    EVENTS_BYTES = 4 << 20 /* the last 60,000 changes of short keys */
};

static void fill_in(struct kv_lmdb_options *options)
{
    if (options->bytes_max == 0)
        options->bytes_max = KV_LMDB_BYTES_MAX;
    if (options->bytes_first == 0)
        options->bytes_first = KV_LMDB_BYTES_FIRST;
    if (options->sync_interval_ms == 0)
        options->sync_interval_ms = DEFAULT_MS;
    if (options->queue_writes_max == 0)
        options->queue_writes_max = QUEUE_WRITES;
    if (options->queue_bytes_max == 0)
        options->queue_bytes_max = QUEUE_BYTES;
    if (options->clients_max == 0)
        options->clients_max = KV_LMDB_CLIENTS_MAX;
    if (options->sweep_ms == 0)
        options->sweep_ms = DEFAULT_MS;
    if (!options->read_clock)
        options->read_clock = now_refresh;
}

static void init_sync(struct kv_lmdb *store)
{
    pthread_condattr_t attr;

    list_init(&store->clients);
    store->queue_end = &store->queue_first;
    pthread_mutex_init(&store->clients_mutex, NULL);
    pthread_mutex_init(&store->queue_mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&store->queue_changed, &attr);
    pthread_condattr_destroy(&attr);
}

static int read_revision(struct kv_lmdb *store)
{
    MDB_txn *txn;
    uint64_t revision;
    int rc = mdb_txn_begin(store->env.env, NULL, MDB_RDONLY, &txn);

    if (rc != 0)
        return -EIO;
    rc = kv_env_read_revision(&store->env, txn, &revision);
    mdb_txn_abort(txn);
    atomic_store_explicit(&store->revision, revision, memory_order_relaxed);
    return rc == 0 ? 0 : -EPROTO;
}

/* Starts the writer's thread. If another process has written to the store, all
 * watchers are reset, since that process's changes are unknown here. */
static int start_writer(struct kv_lmdb *store)
{
    int err = read_revision(store);

    if (err == 0 && store->revision != kv_events_last(store->events))
        kv_events_restart(store->events, store->revision);
    store->has_expiring = true; /* assumed until the first sweep */
    if (err == 0)
        err = -pthread_create(&store->thread, NULL, kv_lmdb_run_writer, store);
    store->is_running = err == 0;
    return err;
}

int kv_lmdb_open(struct kv_lmdb **store_out,
                 const struct kv_lmdb_options *options)
{
    struct kv_lmdb *store = calloc(1, sizeof(*store));
    int err;

    if (!store)
        return -ENOMEM;
    store->options = *options;
    store->env.lock_fd = store->env.data_fd = -1;
    fill_in(&store->options);
    init_sync(store);
    store->env_options = (struct kv_env_options){
        .path = options->path,
        .access = KV_ACCESS_ALONE,
        .bytes_first = store->options.bytes_first,
        .bytes_max = store->options.bytes_max,
        .without_sync = options->sync != KV_SYNC_FULL};
    store->events = kv_events_create(EVENTS_BYTES, true);
    err = store->events ? kv_env_open(&store->env, &store->env_options)
                        : -ENOMEM;
    if (err == 0 && options->cache.bytes_max > 0)
        err = kv_cache_create(&store->cache, &options->cache);
    if (err == 0)
        err = start_writer(store);
    if (err != 0) {
        kv_lmdb_close(store);
        return err;
    }
    *store_out = store;
    return 0;
}

void kv_lmdb_stop(struct kv_lmdb *store)
{
    if (!store->is_running)
        return;
    pthread_mutex_lock(&store->queue_mutex);
    store->is_stopping = true;
    pthread_cond_signal(&store->queue_changed);
    pthread_mutex_unlock(&store->queue_mutex);
    pthread_join(store->thread, NULL);
    store->is_running = false;
}

static void set_paused(struct kv_lmdb *store, bool is_stopping, bool is_paused)
{
    pthread_mutex_lock(&store->queue_mutex);
    store->is_stopping = is_stopping;
    store->is_paused = is_paused;
    pthread_mutex_unlock(&store->queue_mutex);
}

void kv_lmdb_pause(struct kv_lmdb *store)
{
    if (!store->is_running)
        return;
    set_paused(store, true, true);
    kv_lmdb_stop(store);
    if (store->cache)
        kv_cache_suspend(store->cache);
    kv_env_unlock(&store->env);
}

int kv_lmdb_resume(struct kv_lmdb *store)
{
    int err = 0;

    if (store->is_running)
        return 0;
    if (!store->env.env)
        return -EIO;
    err = kv_env_lock(&store->env, store->options.path);
    if (err != 0)
        return err;
    err = kv_lmdb_adopt(store) == 0 ? 0 : -EIO;
    if (err == 0 && store->cache)
        kv_cache_end_writes(store->cache);
    /* Writes are refused until the writer's thread runs. */
    set_paused(store, false, true);
    if (err == 0)
        err = start_writer(store);
    if (err == 0) {
        set_paused(store, false, false);
        return 0;
    }
    log_error("the key-value store '%s': it cannot be written to again: %s",
              store->options.path, strerror(-err));
    set_paused(store, true, true);
    if (store->cache)
        kv_cache_suspend(store->cache);
    kv_env_unlock(&store->env);
    return err;
}

void kv_lmdb_close(struct kv_lmdb *store)
{
    if (!store)
        return;
    kv_lmdb_stop(store);
    kv_env_close(&store->env);
    kv_cache_destroy(store->cache);
    kv_events_destroy(store->events);
    pthread_cond_destroy(&store->queue_changed);
    pthread_mutex_destroy(&store->queue_mutex);
    pthread_mutex_destroy(&store->clients_mutex);
    free(store);
}

void kv_lmdb_count(struct kv_lmdb *store, struct kv_lmdb_counts *counts)
{
    MDB_txn *txn;
    MDB_stat stat = {0};
    MDB_envinfo info = {0};
    MDB_stat page = {0};

    /* While this mutex is held, no thread can move the map, which the
     * transaction uses. */
    pthread_mutex_lock(&store->clients_mutex);
    if (store->env.env &&
        mdb_txn_begin(store->env.env, NULL, MDB_RDONLY, &txn) == 0) {
        (void)mdb_stat(txn, store->env.values, &stat);
        mdb_txn_abort(txn);
    }
    (void)mdb_env_info(store->env.env, &info);
    (void)mdb_env_stat(store->env.env, &page);
    pthread_mutex_unlock(&store->clients_mutex);
    *counts = (struct kv_lmdb_counts){.keys = stat.ms_entries,
                                      .revision = store->revision,
                                      .map_bytes = info.me_mapsize,
                                      .used_bytes = (info.me_last_pgno + 1) *
                                                    (uint64_t)page.ms_psize,
                                      .commits = store->commits,
                                      .writes = store->writes,
                                      .swept = store->swept};
    pthread_mutex_lock(&store->queue_mutex);
    counts->queue_writes = store->queue_writes;
    counts->queue_bytes = store->queue_bytes;
    pthread_mutex_unlock(&store->queue_mutex);
    if (store->cache)
        counts->cache = kv_cache_count(store->cache);
}
