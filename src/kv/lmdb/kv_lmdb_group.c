#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <lmdb.h>

#include "base/units.h"
#include "kv/lmdb/kv_lmdb_priv.h"

enum {
    LOG_INTERVAL_MS = 10000,
    CRAMPED_LOOK_MS = 1000,
    /* How many pages a write needs besides its bytes: copies of the pages from
     * root to leaf, in each tree. The writes of a group share many of these
     * pages. */
    WRITE_PAGES = 4,
    /* Free pages that are reserved for deletes. */
    RESERVED_PAGES = 32
};

/* A disk with less free space than this counts as full. */
#define DISK_FULL_BYTES ((uint64_t)1 << 20)

/* --- Failures ------------------------------------------------------------- */

static bool is_disk_full(const struct kv_lmdb *store)
{
    struct statvfs fs;

    return fstatvfs(store->env.lock_fd, &fs) == 0 &&
           (uint64_t)fs.f_bavail * fs.f_frsize < DISK_FULL_BYTES;
}

/* Returns true if a quota, or a limit on file sizes, forbids that data.mdb
 * grows by this many bytes. Such a limit shows only when a file fails to grow.
 * So the function enlarges the empty lock file for a moment; the same limits
 * apply to it. */
static bool is_growth_forbidden(const struct kv_lmdb *store, uint64_t bytes)
{
    int lock_fd = store->env.lock_fd;
    struct stat data;
    bool is_forbidden;
    int data_fd;

    if (mdb_env_get_fd(store->env.env, &data_fd) != 0 ||
        fstat(data_fd, &data) == -1)
        return false;
    is_forbidden = fallocate(lock_fd, 0, data.st_size, (off_t)bytes) == -1 &&
                   (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
    if (ftruncate(lock_fd, 0) == -1)
        log_warning("the key-value store '%s': its lock: %s",
                    store->options.path, strerror(errno));
    return is_forbidden;
}

/* Notes that the file cannot grow, so writes must fit into its free pages.
 * Clearing the slots of dead readers makes more pages free. */
static enum kv_outcome note_cramped(struct kv_lmdb *store)
{
    (void)kv_env_clear_readers(&store->env);
    if (!store->is_cramped)
        store->look_at_ms = now_read_ns() / NS_PER_MS + CRAMPED_LOOK_MS;
    store->is_cramped = true;
    return KV_FULL;
}

/* Judges LMDB's code. `is_revived` says that LMDB had given the environment up,
 * since it failed to write a meta page. */
static enum kv_outcome judge(struct kv_lmdb *store, int rc, bool is_revived)
{
    switch (rc) {
    case MDB_MAP_FULL:
        return KV_FULL;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return note_cramped(store);
    case ENOMEM: /* nothing was done; a retry may find memory */
    case EINTR:  /* likewise; a retry may not be interrupted */
        return KV_BUSY;
    case MDB_TXN_FULL:
        return KV_ERROR;
    case EIO:
        /* LMDB reports EIO also for a short write, which is the first sign of a
         * full disk. The disk may have room again by now, but then it has taken
         * all that was written. */
        if (is_disk_full(store) ||
            is_growth_forbidden(store, DISK_FULL_BYTES) ||
            (!is_revived && kv_env_is_written(&store->env)))
            return note_cramped(store);
        break;
    default:
        break;
    }
    /* After a failed sync, the content of the disk is unknown: the kernel may
     * have dropped pages that it could not write, and reports the failure only
     * once. */
    store->is_broken = true;
    log_error("the key-value store '%s' takes no more writes until the next "
              "start: %s",
              store->options.path, mdb_strerror(rc));
    return KV_ERROR;
}

enum kv_outcome kv_lmdb_fail(struct kv_lmdb *store, int rc)
{
    char more[LOG_HELD_BACK_BYTES];
    uint64_t held_back;
    bool is_revived;

    if (log_limit_allows(&store->log_limit, now_read_ns() / NS_PER_MS,
                         LOG_INTERVAL_MS, &held_back))
        log_error("write to the key-value store '%s': %s%s",
                  store->options.path, mdb_strerror(rc),
                  log_held_back(held_back, more));
    /* at once, since no client can read until then */
    is_revived = kv_lmdb_revive(store);
    return store->is_broken ? KV_ERROR : judge(store, rc, is_revived);
}

/* --- Transactions --------------------------------------------------------- */

void kv_lmdb_note_commit(struct kv_lmdb *store, const struct kv_change *change)
{
    atomic_store_explicit(&store->revision, change->revision,
                          memory_order_relaxed);
    atomic_fetch_add_explicit(&store->commits, 1, memory_order_relaxed);
    store->has_expiring |= change->has_expiring;
    kv_lmdb_tell_watchers(store);
    if (store->options.sync == KV_SYNC_INTERVAL && !store->is_unsynced) {
        store->is_unsynced = true;
        store->sync_at_ms = now_read_ns() / NS_PER_MS +
                            store->options.sync_interval_ms;
    }
}

int kv_lmdb_begin(struct kv_lmdb *store, struct kv_change *change)
{
    struct now now = {0};

    store->options.read_clock(&now);
    *change = (struct kv_change){.env = &store->env,
                                 .cache = store->cache,
                                 .events = store->events,
                                 .revision = store->revision};
    return kv_change_begin(change, now.wall_ns / NS_PER_MS);
}

/* --- Groups --------------------------------------------------------------- */

/* Does the writes from `first` on, up to the one before `end`, in one
 * transaction. */
static int try_group(struct kv_lmdb *store, struct kv_write *first,
                     const struct kv_write *end)
{
    struct kv_change change;
    int rc = kv_lmdb_begin(store, &change);

    if (rc != 0)
        return rc;
    for (struct kv_write *at = first; at != end; at = at->next) {
        rc = kv_change_apply(&change, at);
        if (rc != 0) {
            kv_change_abort(&change);
            return rc;
        }
    }
    rc = kv_change_commit(&change);
    if (rc == 0)
        kv_lmdb_note_commit(store, &change);
    return rc;
}

static bool only_deletes(const struct kv_write *write)
{
    for (size_t i = 0; i < write->count; i++)
        if (write->ops[i].kind != KV_DELETE && write->ops[i].kind != KV_CHECK)
            return false;
    return true;
}

/* Returns true if data.mdb cannot grow. Once this was noted, the file is
 * checked again every CRAMPED_LOOK_MS. */
static bool is_cramped(struct kv_lmdb *store)
{
    uint64_t now_ms = store->is_cramped ? now_read_ns() / NS_PER_MS : 0;

    if (!store->is_cramped || now_ms < store->look_at_ms)
        return store->is_cramped;
    store->look_at_ms = now_ms + CRAMPED_LOOK_MS;
    store->is_cramped = is_disk_full(store) ||
                        is_growth_forbidden(store, DISK_FULL_BYTES);
    return store->is_cramped;
}

/* Whether there is room for the writes: the file may grow enough, or its free
 * pages suffice. The last free pages are reserved for deletes, which need
 * pages, too, before they free any. */
static bool has_room(struct kv_lmdb *store, const struct kv_write *first,
                     const struct kv_write *end)
{
    uint64_t pages = 0;
    size_t page_bytes;

    if (!is_cramped(store))
        return true;
    page_bytes = kv_env_page_bytes(&store->env);
    for (const struct kv_write *at = first; at != end; at = at->next)
        if (!only_deletes(at))
            pages += WRITE_PAGES + at->bytes / page_bytes;
    return pages == 0 ||
           kv_env_count_free(&store->env) >= pages + RESERVED_PAGES ||
           !is_growth_forbidden(store, (pages + RESERVED_PAGES) * page_bytes);
}

void kv_lmdb_run_group(struct kv_lmdb *store, struct kv_write *first,
                       struct kv_write *end)
{
    bool is_single = first->next == end;
    struct kv_write *middle = first;
    bool is_odd = false;
    enum kv_outcome outcome;
    int rc;

    do {
        rc = store->is_broken               ? MDB_PANIC
             : !has_room(store, first, end) ? ENOSPC
                                            : try_group(store, first, end);
    } while (rc == MDB_MAP_FULL &&
             kv_lmdb_make_room(store, is_single && only_deletes(first)));
    if (rc == 0)
        return;
    outcome = kv_lmdb_fail(store, rc);
    if (is_single || store->is_broken) {
        for (struct kv_write *at = first; at != end; at = at->next)
            kv_write_set_outcomes(at, outcome);
        return;
    }
    for (struct kv_write *at = first; at != end; at = at->next) {
        if (is_odd)
            middle = middle->next;
        is_odd = !is_odd;
    }
    kv_lmdb_run_group(store, first, middle);
    kv_lmdb_run_group(store, middle, end);
}
