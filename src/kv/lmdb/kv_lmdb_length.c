#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lmdb.h>

#include "kv/lmdb/kv_lmdb_priv.h"

/* Counts the free pages from first on. LMDB keeps lists of them in a database of
 * its own, which its mdb_stat reads so: how many there are, then their
 * numbers. */
static int count_free(MDB_txn *txn, size_t first, size_t *count_out)
{
    enum { FREE_PAGES = 0 };
    MDB_cursor *cursor;
    MDB_val key, list;
    size_t page;
    int rc = mdb_cursor_open(txn, FREE_PAGES, &cursor);

    *count_out = 0;
    if (rc != 0)
        return rc;
    while ((rc = mdb_cursor_get(cursor, &key, &list, MDB_NEXT)) == 0)
        for (size_t at = sizeof(page); at + sizeof(page) <= list.mv_size;
             at += sizeof(page)) {
            memcpy(&page, (const char *)list.mv_data + at, sizeof(page));
            *count_out += page >= first;
        }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Whether nothing was in the pages from first to last that are not there. */
static bool is_free(struct kv_env *env, size_t first, size_t last)
{
    size_t count = 0;
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->env, NULL, MDB_RDONLY, &txn);

    if (rc == 0) {
        rc = count_free(txn, first, &count);
        mdb_txn_abort(txn);
    }
    return rc == 0 && count == last + 1 - first;
}

int kv_env_check_length(struct kv_env *env, const char *path)
{
    MDB_envinfo info;
    MDB_stat page;
    struct stat st;
    off_t wanted;
    int fd;
    int rc = mdb_env_info(env->env, &info);

    if (rc == 0)
        rc = mdb_env_stat(env->env, &page);
    if (rc == 0)
        rc = mdb_env_get_fd(env->env, &fd);
    if (rc != 0)
        return rc;
    wanted = (off_t)(info.me_last_pgno + 1) * (off_t)page.ms_psize;
    if (fstat(fd, &st) == -1)
        return errno;
    if (st.st_size >= wanted)
        return 0;
    if (ftruncate(fd, wanted) == -1)
        return errno;
    if (is_free(env, (size_t)st.st_size / page.ms_psize, info.me_last_pgno))
        return 0;
    log_error("the key-value store '%s': data.mdb is cut off: it has %lld of "
              "%lld bytes",
              path, (long long)st.st_size, (long long)wanted);
    return ftruncate(fd, st.st_size) == -1 ? errno : EIO;
}
