#include "kv/kv_offline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

enum { FOLDER_MODE = 0700, FILE_MODE = 0600 };

static const char data_name[] = "data.mdb";
static const char new_name[] = "data.mdb.new";

static int open_to_read(struct kv_env *env, const char *path)
{
    struct kv_env_options options = {.path = path, .access = KV_ACCESS_READ};

    return kv_env_open(env, &options);
}

/* --- Backup --------------------------------------------------------------- */

/* Makes a new file for the copy. An existing file is removed, not overwritten,
 * since it may have other names, too. */
static int make_copy(struct kv_backup *backup)
{
    if (unlinkat(backup->folder, new_name, 0) == -1 && errno != ENOENT)
        return -errno;
    backup->fd = openat(backup->folder, new_name,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        FILE_MODE);
    return backup->fd == -1 ? -errno : 0;
}

static int open_folder(struct kv_backup *backup)
{
    const struct kv_target *target = backup->target;
    const char *name = *target->new ? target->new : ".";

    if (*target->new &&mkdirat(target->folder, name, FOLDER_MODE) == -1)
        return -errno;
    backup->is_made = *target->new != '\0';
    backup->folder = openat(target->folder, name,
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (backup->folder == -1)
        return -errno;
    if (faccessat(backup->folder, data_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return errno == ENOENT ? make_copy(backup) : -errno;
}

int kv_offline_begin_backup(struct kv_backup *backup,
                            const struct kv_target *target)
{
    int err;

    *backup = (struct kv_backup){.target = target, .folder = -1, .fd = -1};
    err = open_folder(backup);
    if (err == 0)
        return 0;
    log_error("back up into '%s': %s", target->to, strerror(-err));
    kv_offline_drop_backup(backup);
    return err;
}

int kv_offline_copy(const char *path, int fd)
{
    struct kv_env env;
    int err = open_to_read(&env, path);
    int rc;

    if (err != 0)
        return err;
    rc = mdb_env_copyfd2(env.env, fd, MDB_CP_COMPACT);
    if (rc != 0)
        log_error("copy the key-value store '%s': %s", path, mdb_strerror(rc));
    kv_env_close(&env);
    return rc > 0 ? -rc : rc < 0 ? -EPROTO : 0;
}

/* Returns true if the temporary name still leads to the copy. Another backup
 * into the same folder may have replaced the file. */
static bool is_in_place(const struct kv_backup *backup)
{
    struct stat ours, there;

    return fstat(backup->fd, &ours) == 0 &&
           fstatat(backup->folder, new_name, &there, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Gives the backup its name by link(), since renameat() would replace a file
 * that was made meanwhile. */
static int keep(struct kv_backup *backup)
{
    if (fsync(backup->fd) == -1)
        return -errno;
    if (!is_in_place(backup))
        return -EBUSY;
    if (linkat(backup->folder, new_name, backup->folder, data_name, 0) == -1)
        return -errno;
    backup->is_made = false; /* nobody removes the folder any more */
    return kv_folder_sync_names(backup->folder);
}

int kv_offline_keep_backup(struct kv_backup *backup)
{
    int err = keep(backup);

    if (err != 0)
        log_error("back up into '%s': %s", backup->target->to, strerror(-err));
    kv_offline_drop_backup(backup);
    return err;
}

void kv_offline_drop_backup(struct kv_backup *backup)
{
    if (backup->fd != -1) {
        if (is_in_place(backup))
            (void)unlinkat(backup->folder, new_name, 0);
        close(backup->fd);
    }
    if (backup->folder != -1)
        close(backup->folder);
    if (backup->is_made)
        (void)unlinkat(backup->target->folder, backup->target->new,
                       AT_REMOVEDIR);
    *backup = (struct kv_backup){.folder = -1, .fd = -1};
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
