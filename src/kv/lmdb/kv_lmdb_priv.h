/*
 * kv_lmdb_priv - what the files of the LMDB store share. Each calls only those
 * below it:
 *
 *   kv_lmdb_client  questions of one thread: what the client's table names
 *   kv_lmdb         the store as a whole: open, stop, hand over, close
 *   kv_lmdb_writer  the queue, the thread, and when it sweeps expired keys
 *   kv_gather       how long a group waits
 *   kv_lmdb_group   many writes in one transaction, and failures
 *   kv_lmdb_watch   watches of a client
 *   kv_lmdb_read    a reader for the time of a call, and its faults
 *   kv_lmdb_room    changes the map's size, or opens it anew, while no client
 *                   reads
 *   kv_lmdb_sweep   removes expired keys, in a transaction
 *   kv_lmdb_apply   a transaction: begin, writes, commit
 *   kv_lmdb_op      one operation inside of a transaction
 *   kv_lmdb_env     the environment and its folder: open, grow, close
 *   kv_lmdb_length  checks whether the file was cut off
 *
 * Functions that return int return, if nothing else is said, 0 or LMDB's code:
 * an errno, or one of LMDB's own negative numbers.
 */
#ifndef KV_LMDB_KV_LMDB_PRIV_H
#define KV_LMDB_KV_LMDB_PRIV_H

#include <pthread.h>

#include "base/list.h"
#include "base/log.h"
#include "kv/kv_events.h"
#include "kv/kv_gather_priv.h"
#include "kv/kv_record.h"
#include "kv/lmdb/kv_lmdb.h"

struct MDB_env;
struct MDB_txn;

/* --- kv_lmdb_env ---------------------------------------------------------- */

struct kv_env {
    struct MDB_env *env;
    unsigned values; /* databases in the environment */
    unsigned expiry;
    unsigned meta;
    int lock_fd;
    uint64_t map_bytes;
    uint64_t bytes_max;
    bool is_beyond_max; /* grown beyond bytes_max, and not trimmed since */
};

enum kv_access {
    KV_ACCESS_ALONE, /* the only process that may write */
    KV_ACCESS_READ   /* besides another process that writes */
};

struct kv_env_options {
    const char *path;
    enum kv_access access;
    uint64_t bytes_first;
    uint64_t bytes_max;
    bool without_sync;
};

/* Returns 0 or -errno, logged; see kv_lmdb_open(). */
MUST_USE int kv_env_open(struct kv_env *env,
                         const struct kv_env_options *options);
void kv_env_close(struct kv_env *env); /* a second call does nothing */

/* Whether LMDB refuses all transactions, readers' too. It does so after it could
 * not write the meta page, by which a commit counts. */
bool kv_env_is_given_up(const struct kv_env *env);

/* Opens the environment anew, with all that was committed. No transaction may be
 * active in the process. Not 0: env->env is NULL. */
MUST_USE int kv_env_reopen(struct kv_env *env,
                           const struct kv_env_options *options);

/* Gives up the right to write, or takes it again: 0 or -errno, logged. */
void kv_env_unlock(struct kv_env *env);
MUST_USE int kv_env_lock(struct kv_env *env, const char *path);

/* Syncs a folder, and its parent unless the sandbox hides that: a file's
 * content is safe only if all names on its path are on disk, and LMDB syncs no
 * names. Returns 0 or -errno. */
MUST_USE int kv_env_sync_names(int folder);

/* Refuses a file that was cut off: EIO, logged. Touching a page of the map that
 * the file does not have is SIGBUS, which kills the server. At the end, free
 * pages that were never written may be missing: nobody touches those. */
MUST_USE int kv_env_check_length(struct kv_env *env, const char *path);

/* Clears the slots of readers whose processes have died: pages that these saw
 * could never be used again. True: there were such slots. Any thread. */
bool kv_env_clear_readers(struct kv_env *env);

/* Adopts another process's size of the map; no transaction may be active. */
int kv_env_adopt(struct kv_env *env);

/* Makes the map larger, up to its maximum; for deletes, which need room for a
 * moment, a little beyond. False: it has that size already. No transaction may
 * be active in the process. */
MUST_USE bool kv_env_grow(struct kv_env *env, bool beyond_max);

/* How many pages the next transaction can use without a longer file. */
uint64_t kv_env_count_free(const struct kv_env *env);
size_t kv_env_page_bytes(const struct kv_env *env);

/* Shrinks a map beyond its maximum, as far as pages there are free. */
void kv_env_trim(struct kv_env *env);

/* --- kv_lmdb_apply -------------------------------------------------------- */

/* A transaction that changes the store. */
struct kv_change {
    const struct kv_env *env;
    struct MDB_txn *txn;
    int64_t now_ms;
    uint64_t revision;        /* the last revision given */
    uint64_t revision_begun;  /* revision before the change */
    bool has_expiring;        /* a value with an expiry was put */
    struct kv_cache *cache;   /* told of each key; or NULL */
    struct kv_events *events; /* told of all changes */
};

/* The caller has set environment, cache, events and the last committed
 * revision. */
MUST_USE int kv_change_begin(struct kv_change *change, int64_t now_ms);
/* Commits the change, which is over whatever is returned. */
MUST_USE int kv_change_commit(struct kv_change *change);
void kv_change_abort(struct kv_change *change);

/* Sets the operations' outcomes, and is_done. If the result is not 0, the
 * change must be aborted, and the write has no outcome. */
MUST_USE int kv_change_apply(struct kv_change *change, struct kv_write *write);

/* Reads the last revision given, as the reader's transaction sees it. */
MUST_USE int kv_env_read_revision(const struct kv_env *env, struct MDB_txn *txn,
                                  uint64_t *revision_out);

/* --- kv_lmdb_sweep -------------------------------------------------------- */

/* Removes up to limit expired keys. Sets how many entries of the index it has
 * looked at, and whether any are left. */
MUST_USE int kv_change_sweep(struct kv_change *change, size_t limit,
                             size_t *swept_out, bool *some_left_out);

/* --- kv_lmdb_op: operations, for kv_lmdb_apply and _sweep ----------------- */

/* Sets the operation's outcome. Not 0: as for kv_change_apply(). */
MUST_USE int kv_change_do(struct kv_change *change, struct kv_op *op);

/* Removes a key if it still expires at expires_ms. */
MUST_USE int kv_change_expire(struct kv_change *change, struct bytes key,
                              int64_t expires_ms);

/* --- The store ------------------------------------------------------------ */

struct kv_lmdb_client {
    struct kv_client client;
    struct kv_lmdb *store;
    struct mailbox *mailbox;
    const struct now *now;
    struct list list_node;
    pthread_mutex_t mutex; /* held while the client reads; else only taken to
                              change the map's size */
    struct MDB_txn *txn;   /* reset between calls */
    struct list watches;
    atomic_uint watch_count;     /* only the client changes it */
    struct mailbox_note changed; /* the writer's note that there are events */
    atomic_bool is_told;         /* that note is under way */
    struct log_limit log_limit;
    bool gathers;   /* only flush wakes the writer */
    bool has_asked; /* it has written since the last flush */
};

struct kv_lmdb {
    struct kv_env env; /* env.env is NULL if it could not be opened anew */
    struct kv_env_options env_options;
    struct kv_lmdb_options options;
    struct kv_cache *cache; /* NULL: no cache */
    struct kv_events *events;
    atomic_uint watch_count; /* watches of all clients */
    pthread_mutex_t clients_mutex;
    struct list clients; /* guarded by clients_mutex, like their count */
    unsigned client_count;

    pthread_mutex_t queue_mutex; /* guards the queue */
    pthread_cond_t queue_changed;
    struct kv_write *queue_first;
    struct kv_write **queue_end;
    size_t queue_writes; /* including those under way */
    size_t queue_bytes;
    size_t signal_at; /* the writer sleeps until so many wait */
    bool is_stopping;
    bool is_paused; /* another process may write; no write is accepted */

    pthread_t thread;
    bool is_running; /* used by the main thread only */

    /* Used by the writer only. */
    bool is_broken;      /* the disk failed: nothing is written any more */
    bool is_cramped;     /* the file could not grow, but may later */
    uint64_t look_at_ms; /* next check of is_cramped; monotonic */
    bool is_unsynced;    /* there were commits since the last sync */
    bool has_expiring;   /* the index of expiries may have entries */
    uint64_t sync_at_ms; /* this and the next: monotonic */
    uint64_t sweep_at_ms;
    struct kv_gather gather;
    struct log_limit log_limit;

    /* Changed by the writer, read by any thread. */
    _Atomic uint64_t revision;
    _Atomic uint64_t commits;
    _Atomic uint64_t writes;
    _Atomic uint64_t swept;
};

/* --- kv_lmdb_room --------------------------------------------------------- */

/* To be called after MDB_MAP_FULL. True: there may be room, even without
 * growing. */
MUST_USE bool kv_lmdb_make_room(struct kv_lmdb *store, bool beyond_max);

/* Calls kv_env_trim() while all clients are locked. */
void kv_lmdb_trim(struct kv_lmdb *store);

/* Opens the environment anew if it is given up, so that reading goes on. The
 * writer's thread calls this. */
void kv_lmdb_revive(struct kv_lmdb *store);

/* Calls kv_env_adopt() while all clients are locked; the thread must hold no
 * client's lock. */
int kv_lmdb_adopt(struct kv_lmdb *store);

/* --- kv_lmdb_read --------------------------------------------------------- */

/* Returns 0: client->txn sees the present, until kv_lmdb_read_end(). */
MUST_USE int kv_lmdb_read_begin(struct kv_lmdb_client *client);
void kv_lmdb_read_end(struct kv_lmdb_client *client);

/* Returns the revision that a reader sees now; 0: it cannot be read, which is
 * logged. */
uint64_t kv_lmdb_read_revision(struct kv_lmdb_client *client);

/* Log LMDB's fault, or the key of a corrupt record, for a reader; not often. */
void kv_lmdb_log_fault(struct kv_lmdb_client *client, int rc);
void kv_lmdb_log_corrupt(struct kv_lmdb_client *client, struct bytes key);

/* --- kv_lmdb_watch -------------------------------------------------------- */

void kv_lmdb_watch_init(struct kv_lmdb_client *client);
MUST_USE bool kv_lmdb_watch(struct kv_client *base, struct kv_watch *watch);
void kv_lmdb_unwatch(struct kv_client *base, struct kv_watch *watch);

/* Tells all clients with watches that there are new events; called by the
 * writer. */
void kv_lmdb_tell_watchers(struct kv_lmdb *store);

/* --- kv_lmdb_group: the writer's thread only ------------------------------ */

/* Gives each write from first on, before end, its outcome. All go into one
 * transaction; if that fails, its halves are tried, down to the single writes
 * that cannot be done: the others do not suffer from them. */
void kv_lmdb_run_group(struct kv_lmdb *store, struct kv_write *first,
                       struct kv_write *end);

MUST_USE int kv_lmdb_begin(struct kv_lmdb *store, struct kv_change *change);
void kv_lmdb_note_commit(struct kv_lmdb *store, const struct kv_change *change);

/* Logs LMDB's code, and judges it: no room, a fault of this write, or the end
 * of all writing. */
enum kv_outcome kv_lmdb_fail(struct kv_lmdb *store, int rc);

/* --- kv_lmdb_writer ------------------------------------------------------- */

/* Queues a write, or answers it at once, for kv_client_write(). Unless wakes is
 * set, the caller wakes the writer later. */
MUST_USE bool kv_lmdb_put_write(struct kv_lmdb *store, struct mailbox *mailbox,
                                struct kv_write *write, bool wakes);

/* Wakes the writer if enough writes wait. */
void kv_lmdb_wake_writer(struct kv_lmdb *store);

/* The writer's thread. */
void *kv_lmdb_run_writer(void *context);

#endif
