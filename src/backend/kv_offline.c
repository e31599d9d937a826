#include "backend/kv_offline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "backend/kv_lmdb_priv.h"

enum { FOLDER_MODE = 0700, FILE_MODE = 0600 };

static const char data_name[] = "data.mdb";
static const char new_name[] = "data.mdb.new";

static int open_to_read(struct kv_env *env, const char *path)
{
    struct kv_env_options options = {.path = path, .access = KV_ACCESS_READ};

    return kv_env_open(env, &options);
}

/* --- Backup --------------------------------------------------------------- */

/* A descriptor of the folder or -errno. */
static int open_target(const char *to)
{
    int folder;
    int err = 0;

    if (mkdir(to, FOLDER_MODE) == -1 && errno != EEXIST)
        return -errno;
    folder = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder == -1)
        return -errno;
    if (faccessat(folder, data_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        err = -EEXIST;
    else if (errno != ENOENT)
        err = -errno;
    if (err == 0)
        return folder;
    close(folder);
    return err;
}

static int copy_into(const struct kv_env *env, int folder)
{
    int fd = openat(folder, new_name,
                    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                    FILE_MODE);
    int rc;

    if (fd == -1)
        return -errno;
    rc = mdb_env_copyfd2(env->env, fd, MDB_CP_COMPACT);
    if (rc == 0 && fsync(fd) == -1)
        rc = errno;
    if (close(fd) == -1 && rc == 0)
        rc = errno;
    /* Not renameat(): it would put it over one that came meanwhile. */
    if (rc == 0 && linkat(folder, new_name, folder, data_name, 0) == -1)
        rc = errno;
    (void)unlinkat(folder, new_name, 0);
    if (rc == 0 && fsync(folder) == -1)
        rc = errno;
    return rc > 0 ? -rc : rc < 0 ? -EPROTO : 0;
}

int kv_offline_backup(const char *path, const char *to)
{
    struct kv_env env;
    int folder;
    int err = open_to_read(&env, path);

    if (err != 0)
        return err;
    folder = open_target(to);
    err = folder < 0 ? folder : copy_into(&env, folder);
    if (err != 0)
        log_error("copy the key-value store '%s' to '%s': %s", path, to,
                  strerror(-err));
    if (folder >= 0)
        close(folder);
    kv_env_close(&env);
    return err;
}

/* --- Walk ----------------------------------------------------------------- */

static int walk(MDB_cursor *cursor, int64_t now_ms, kv_record_fn on_record,
                void *context)
{
    MDB_val key;
    MDB_val data;
    struct kv_record record;
    int rc = mdb_cursor_get(cursor, &key, &data, MDB_FIRST);
    int err = 0;

    while (rc == 0 && err == 0) {
        struct bytes text = {key.mv_data, key.mv_size};

        if (!kv_record_read(&record,
                            (struct bytes){data.mv_data, data.mv_size})) {
            log_error("the record of '%.*s' is corrupt", (int)text.len,
                      text.data);
            return -EPROTO;
        }
        if (!kv_meta_has_expired(&record.meta, now_ms))
            err = on_record(context, text, &record);
        rc = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
    }
    if (err != 0 || rc == MDB_NOTFOUND)
        return err;
    log_error("read the key-value store: %s", mdb_strerror(rc));
    return rc > 0 ? -rc : -EPROTO;
}

int kv_offline_walk(const char *path, int64_t now_ms, kv_record_fn on_record,
                    void *context)
{
    struct kv_env env;
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    int err = open_to_read(&env, path);
    int rc;

    if (err != 0)
        return err;
    rc = mdb_txn_begin(env.env, NULL, MDB_RDONLY, &txn);
    if (rc == 0)
        rc = mdb_cursor_open(txn, env.values, &cursor);
    if (rc == 0) {
        err = walk(cursor, now_ms, on_record, context);
        mdb_cursor_close(cursor);
    } else {
        err = rc > 0 ? -rc : -EPROTO;
        log_error("read the key-value store '%s': %s", path, mdb_strerror(rc));
    }
    if (txn)
        mdb_txn_abort(txn);
    kv_env_close(&env);
    return err;
}
