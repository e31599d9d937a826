#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "base/log.h"
#include "kv/lmdb/kv_lmdb_priv.h"

enum {
    DATABASES = 3,
    FILE_MODE = 0600,
    /* How many server processes may read at the same time: after an upgrade,
     * earlier processes go on until they have sent their answers. */
    SERVERS = 4,
    SPARE_READERS = 64,
    READERS_MAX = SERVERS * KV_LMDB_CLIENTS_MAX + SPARE_READERS
};

/* A growing map doubles in size, but grows by no more than this at a time. */
#define GROWTH_BYTES_MAX ((uint64_t)1 << 30)
#define MAP_BYTES_MIN ((uint64_t)1 << 18)

static const char version_key[] = "version";
static const char version[] = "1";

/* Turns LMDB's own codes into an errno. */
static int to_errno(int rc)
{
    switch (rc) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_VERSION_MISMATCH:
        return -EPROTO;
    case MDB_MAP_FULL:
        return -ENOSPC;
    case MDB_READERS_FULL:
        return -EMFILE;
    default:
        return rc > 0 ? -rc : -EIO;
    }
}

/* --- The databases -------------------------------------------------------- */

/* Refuses a store of another version; writes our version into an empty
 * store. */
static int check_version(struct kv_env *env, MDB_txn *txn, bool may_write)
{
    MDB_val key = {sizeof(version_key) - 1, (void *)(uintptr_t)version_key};
    MDB_val ours = {sizeof(version) - 1, (void *)(uintptr_t)version};
    MDB_val found;
    MDB_stat stat;
    int rc = mdb_get(txn, env->meta, &key, &found);

    if (rc == 0)
        return found.mv_size == ours.mv_size &&
                       memcmp(found.mv_data, ours.mv_data, ours.mv_size) == 0
                   ? 0
                   : MDB_VERSION_MISMATCH;
    if (rc != MDB_NOTFOUND)
        return rc;
    rc = mdb_stat(txn, env->values, &stat);
    if (rc != 0)
        return rc;
    if (stat.ms_entries > 0 || !may_write)
        return MDB_VERSION_MISMATCH;
    return mdb_put(txn, env->meta, &key, &ours, 0);
}

static int open_databases(struct kv_env *env, bool may_write)
{
    unsigned flags = may_write ? MDB_CREATE : 0;
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->env, NULL, may_write ? 0 : MDB_RDONLY, &txn);

    if (rc != 0)
        return rc;
    rc = mdb_dbi_open(txn, "values", flags, &env->values);
    if (rc == 0)
        rc = mdb_dbi_open(txn, "expiry", flags | MDB_DUPSORT, &env->expiry);
    if (rc == 0)
        rc = mdb_dbi_open(txn, "meta", flags, &env->meta);
    if (rc == 0)
        rc = check_version(env, txn, may_write);
    if (rc == MDB_NOTFOUND || rc == MDB_INCOMPATIBLE)
        rc = MDB_VERSION_MISMATCH; /* not one of our stores */
    if (rc != 0) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

bool kv_env_clear_readers(struct kv_env *env)
{
    int dead = 0;

    return mdb_reader_check(env->env, &dead) == 0 && dead > 0;
}

/* Logs what LMDB has found to be damaged. LMDB calls this function just before
 * it aborts the process. */
static void tell_damage(MDB_env *env, const char *what)
{
    log_error("the key-value store '%s' is damaged: %s",
              (const char *)mdb_env_get_userctx(env), what);
}

static int open_environment(struct kv_env *env,
                            const struct kv_env_options *options)
{
    bool may_write = options->access == KV_ACCESS_ALONE;
    unsigned flags = MDB_NOTLS;
    MDB_envinfo info;
    int rc = mdb_env_create(&env->env);

    if (rc != 0)
        return rc;
    rc = mdb_env_set_userctx(env->env, (void *)(uintptr_t)options->path);
    if (rc == 0)
        rc = mdb_env_set_assert(env->env, tell_damage);
    if (rc == 0 && may_write)
        rc = mdb_env_set_mapsize(env->env, env->map_bytes);
    if (rc == 0)
        rc = mdb_env_set_maxdbs(env->env, DATABASES);
    /* The first process that opens the folder sets the size of the table of
     * readers for all others. */
    if (rc == 0)
        rc = mdb_env_set_maxreaders(env->env, READERS_MAX);
    if (!may_write)
        flags |= MDB_RDONLY;
    if (options->without_sync)
        flags |= MDB_NOSYNC;
    if (rc == 0)
        rc = mdb_env_open(env->env, options->path, flags, FILE_MODE);
    if (rc == 0)
        rc = mdb_reader_check(env->env, NULL);
    if (rc == 0)
        rc = mdb_env_info(env->env, &info);
    if (rc != 0)
        return rc;
    env->map_bytes = info.me_mapsize; /* LMDB may have made it larger */
    rc = kv_env_check_length(env, options->path);
    if (rc != 0)
        return rc;
    return open_databases(env, may_write);
}

int kv_env_open(struct kv_env *env, const struct kv_env_options *options)
{
    int err = 0;
    int rc;

    *env = (struct kv_env){
        .lock_fd = -1, .data_fd = -1, .bytes_max = options->bytes_max};
    if (env->bytes_max < MAP_BYTES_MIN)
        env->bytes_max = MAP_BYTES_MIN;
    env->map_bytes = options->bytes_first < env->bytes_max
                         ? options->bytes_first
                         : env->bytes_max;
    if (env->map_bytes < MAP_BYTES_MIN)
        env->map_bytes = MAP_BYTES_MIN;
    if (options->access == KV_ACCESS_ALONE) {
        err = kv_folder_make(options->path);
        if (err == 0)
            err = kv_folder_lock(options->path, &env->lock_fd);
        if (err == 0)
            err = kv_folder_reserve_readers(options->path, READERS_MAX);
    }
    if (err == 0) {
        rc = open_environment(env, options);
        if (rc != 0) {
            err = to_errno(rc);
            log_error("open the key-value store '%s': %s", options->path,
                      mdb_strerror(rc));
        }
    }
    if (err == 0 && options->access == KV_ACCESS_ALONE) {
        env->data_fd = kv_folder_open_data(options->path);
        err = kv_folder_sync(options->path);
    }
    if (err != 0)
        kv_env_close(env);
    return err;
}

static void close_environment(struct kv_env *env)
{
    if (env->env)
        mdb_env_close(env->env);
    env->env = NULL;
}

void kv_env_close(struct kv_env *env)
{
    close_environment(env);
    if (env->data_fd != -1)
        close(env->data_fd);
    env->data_fd = -1;
    kv_env_unlock(env);
}

bool kv_env_is_written(const struct kv_env *env)
{
    return env->data_fd != -1 && fdatasync(env->data_fd) == 0;
}

bool kv_env_is_given_up(const struct kv_env *env)
{
    MDB_txn *txn = NULL;
    int rc = env->env ? mdb_txn_begin(env->env, NULL, MDB_RDONLY, &txn) : 0;

    mdb_txn_abort(txn);
    return rc == MDB_PANIC;
}

int kv_env_reopen(struct kv_env *env, const struct kv_env_options *options)
{
    int rc;

    close_environment(env);
    rc = open_environment(env, options);
    if (rc != 0)
        close_environment(env);
    return rc;
}

void kv_env_unlock(struct kv_env *env)
{
    if (env->lock_fd != -1)
        close(env->lock_fd);
    env->lock_fd = -1;
}

int kv_env_lock(struct kv_env *env, const char *path)
{
    int err = kv_folder_lock(path, &env->lock_fd);

    if (err != 0)
        kv_env_unlock(env);
    return err;
}

/* --- The map -------------------------------------------------------------- */

/* Whether the process can map this many bytes. LMDB unmaps the old map before
 * it makes the new one; without room for the new map, the store could not even
 * be read. */
static bool has_room_for(uint64_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

static bool set_size(struct kv_env *env, uint64_t bytes)
{
    MDB_envinfo info;
    int rc = has_room_for(bytes) ? mdb_env_set_mapsize(env->env, bytes)
                                 : ENOMEM;

    if (rc != 0) {
        log_error("map %" PRIu64 " bytes of the key-value store: %s", bytes,
                  mdb_strerror(rc));
        return false;
    }
    if (mdb_env_info(env->env, &info) == 0)
        env->map_bytes = info.me_mapsize;
    return true;
}

/* Returns by how much the map may exceed its maximum: a 32nd of the maximum,
 * but at least enough pages for a path to a leaf. */
static uint64_t spare_bytes(const struct kv_env *env)
{
    uint64_t share = env->bytes_max / 32;

    return share > MAP_BYTES_MIN ? share : MAP_BYTES_MIN;
}

int kv_env_adopt(struct kv_env *env)
{
    int rc = has_room_for(env->bytes_max + spare_bytes(env))
                 ? mdb_env_set_mapsize(env->env, 0)
                 : ENOMEM;
    MDB_envinfo info;

    if (rc == 0)
        rc = mdb_env_info(env->env, &info);
    if (rc == 0)
        env->map_bytes = info.me_mapsize;
    return rc;
}

bool kv_env_grow(struct kv_env *env, bool beyond_max)
{
    uint64_t limit = env->bytes_max + (beyond_max ? spare_bytes(env) : 0);
    uint64_t step = env->map_bytes < GROWTH_BYTES_MAX ? env->map_bytes
                                                      : GROWTH_BYTES_MAX;
    uint64_t before = env->map_bytes;

    if (before >= limit)
        return false;
    env->is_beyond_max = beyond_max;
    return set_size(env, step < limit - before ? before + step : limit) &&
           env->map_bytes > before;
}

/* Counts the pages in LMDB's lists of free pages. LMDB keeps the lists in a
 * database of its own: the key is the transaction that freed the pages, the
 * value their count and their numbers. The pages that the last transaction
 * freed do not count, since readers of the state before it may still use
 * them. */
static uint64_t count_listed(MDB_txn *txn)
{
    enum { FREE_PAGES = 0 };
    uint64_t count = 0;
    MDB_cursor *cursor;
    MDB_val key, list;

    if (mdb_cursor_open(txn, FREE_PAGES, &cursor) != 0)
        return 0;
    while (mdb_cursor_get(cursor, &key, &list, MDB_NEXT) == 0) {
        size_t left_by, pages;

        memcpy(&left_by, key.mv_data, sizeof(left_by));
        memcpy(&pages, list.mv_data, sizeof(pages));
        count += left_by < mdb_txn_id(txn) ? pages : 0;
    }
    mdb_cursor_close(cursor);
    return count;
}

uint64_t kv_env_count_free(const struct kv_env *env)
{
    uint64_t count = 0;
    MDB_envinfo info;
    struct stat st;
    MDB_txn *txn;
    uint64_t used;
    int fd;

    if (mdb_txn_begin(env->env, NULL, MDB_RDONLY, &txn) != 0)
        return 0;
    count = count_listed(txn);
    mdb_txn_abort(txn);
    if (mdb_env_info(env->env, &info) != 0 ||
        mdb_env_get_fd(env->env, &fd) != 0 || fstat(fd, &st) == -1)
        return count;
    used = info.me_last_pgno + 1;
    if ((uint64_t)st.st_size / kv_env_page_bytes(env) > used)
        count += (uint64_t)st.st_size / kv_env_page_bytes(env) - used;
    return count;
}

size_t kv_env_page_bytes(const struct kv_env *env)
{
    MDB_stat page;

    return mdb_env_stat(env->env, &page) == 0 ? page.ms_psize : 4096;
}

void kv_env_trim(struct kv_env *env)
{
    /* LMDB itself never shrinks the map below the used pages. */
    if (env->is_beyond_max)
        (void)set_size(env, env->bytes_max);
    env->is_beyond_max = false;
}
