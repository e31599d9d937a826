/*
 * kv_lmdb_priv - what the files of the LMDB store share. Each file calls only
 * files below it in this list:
 *
 *   kv_lmdb_client  one thread's questions: the functions of kv_client_ops
 *   kv_lmdb         the store as a whole: open, stop, hand over, close
 *   kv_lmdb_writer  the queue, the writer's thread, and when expired keys are
 *                   swept
 *   kv_gather       how long a group waits
 *   kv_lmdb_group   does many writes in one transaction, and handles failures
 *   kv_lmdb_watch   the watches of a client
 *   kv_lmdb_read    a read transaction for the time of a call, and its failures
 *   kv_lmdb_room    resizes the map or opens the environment anew, while no
 *                   client reads
 *   kv_lmdb_sweep   removes expired keys, in one transaction
 *   kv_lmdb_apply   begins a transaction, applies writes, commits
 *   kv_lmdb_op      one operation inside of a transaction
 *   kv_lmdb_env     the environment and its folder: open, grow, close
 *   kv_lmdb_length  checks whether the file was cut off
 *   kv_lmdb_folder  the folder and its files
 *
 * A function that returns int returns 0 or LMDB's code (an errno, or a negative
 * number of LMDB's own), unless its comment says otherwise.
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
    unsigned values; /* numbers of the three databases */
    unsigned expiry;
    unsigned meta;
    int lock_fd;
    int data_fd; /* a descriptor of data.mdb beside LMDB's; -1: none */
    uint64_t map_bytes;
    uint64_t bytes_max;
    /* the map is larger than bytes_max until it is trimmed */
    bool is_beyond_max;
};

enum kv_access {
    KV_ACCESS_ALONE, /* only this process may write */
    KV_ACCESS_READ   /* another process may write; this one reads */
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

/* Returns true if LMDB refuses all transactions, including those that only
 * read. LMDB does so after it failed to write a meta page. (A meta page makes a
 * commit valid.) */
bool kv_env_is_given_up(const struct kv_env *env);

/* Closes the environment and opens it anew; all commits are kept. No
 * transaction may be active in the process. On failure, env->env is NULL. */
MUST_USE int kv_env_reopen(struct kv_env *env,
                           const struct kv_env_options *options);

/* kv_env_unlock() gives up the right to write; kv_env_lock() takes the right
 * again. kv_env_lock() returns 0 or -errno, logged. */
void kv_env_unlock(struct kv_env *env);
MUST_USE int kv_env_lock(struct kv_env *env, const char *path);

/* Whether the disk has taken all that was written to data.mdb. The kernel
 * reports a failure to write to each descriptor of the file once, so the answer
 * is right even after LMDB has had the report. */
MUST_USE bool kv_env_is_written(const struct kv_env *env);

/* Checks whether data.mdb was cut off. Returns 0, or EIO, logged, if it was.
 * Touching a page of the map that the file lacks raises SIGBUS, which kills the
 * server. Free pages at the end may be missing, since nobody touches them. */
MUST_USE int kv_env_check_length(struct kv_env *env, const char *path);

/* Clears the slots of readers whose processes have died; otherwise the pages
 * that those readers saw could never be reused. Returns true if there were such
 * slots. Any thread may call this function. */
bool kv_env_clear_readers(struct kv_env *env);

/* Resizes the map to the size that another process has set. No transaction may
 * be active. */
int kv_env_adopt(struct kv_env *env);

/* Makes the map larger, up to its maximum. If beyond_max is true, the limit is
 * a little larger: deletes need more room for a moment. Returns false if the
 * map could not grow. No transaction may be active in the process. */
MUST_USE bool kv_env_grow(struct kv_env *env, bool beyond_max);

/* Returns how many pages the next transaction can use without making the file
 * grow. */
uint64_t kv_env_count_free(const struct kv_env *env);
size_t kv_env_page_bytes(const struct kv_env *env);

/* Shrinks a map that is larger than its maximum, as far as the pages beyond the
 * maximum are free. */
void kv_env_trim(struct kv_env *env);

/* --- kv_lmdb_folder ------------------------------------------------------- */

/* These functions return 0 or -errno; all but kv_folder_sync_names() log it. */

/* Makes the folder, unless it is there. */
MUST_USE int kv_folder_make(const char *path);

/* Locks the folder for this process, by a descriptor. LMDB itself would let two
 * processes write in turn, but sprintd keeps the revision, the sweep and the
 * map's size in memory, and so only one process may write. *fd_out is -1 or
 * has to be closed, whatever the result. */
MUST_USE int kv_folder_lock(const char *path, int *fd_out);

/* Allocates the disk blocks of LMDB's table of readers. LMDB makes lock.mdb
 * with holes and maps it: on a full disk, a thread that takes a slot in a hole
 * dies of SIGBUS. On file systems that cannot preallocate, nothing is done. To
 * be called before LMDB opens lock.mdb, since closing any of the file's
 * descriptors drops all locks that this process has in the file. */
MUST_USE int kv_folder_reserve_readers(const char *path, unsigned readers);

/* Sync the names of the store's files, and the folder's own name: LMDB syncs no
 * names. */
MUST_USE int kv_folder_sync_names(int folder);
MUST_USE int kv_folder_sync(const char *path);

/* Opens data.mdb for reading. Returns a descriptor, or -1. */
int kv_folder_open_data(const char *path);

/* --- kv_lmdb_apply -------------------------------------------------------- */

/* A transaction that changes the store. */
struct kv_change {
    const struct kv_env *env;
    struct MDB_txn *txn;
    int64_t now_ms;
    uint64_t revision;        /* the last revision that was given */
    uint64_t revision_begun;  /* the last revision before the change */
    bool has_expiring;        /* a value with an expiry was put */
    struct kv_cache *cache;   /* is told of each changed key; may be NULL */
    struct kv_events *events; /* is told of all changes */
};

/* Begins a change. The caller has set `env`, `cache` and `events`, and
 * `revision` to the last committed revision. */
MUST_USE int kv_change_begin(struct kv_change *change, int64_t now_ms);
/* Commits the change, which is over whether or not the commit succeeds. */
MUST_USE int kv_change_commit(struct kv_change *change);
void kv_change_abort(struct kv_change *change);

/* Applies a write; sets is_done and each operation's outcome. If the result is
 * not 0, the caller must abort the change, and the outcomes are not valid. */
MUST_USE int kv_change_apply(struct kv_change *change, struct kv_write *write);

/* Reads the store's last revision, as the transaction sees it. */
MUST_USE int kv_env_read_revision(const struct kv_env *env, struct MDB_txn *txn,
                                  uint64_t *revision_out);

/* --- kv_lmdb_sweep -------------------------------------------------------- */

/* Removes up to `limit` expired keys. *swept_out is set to the number of
 * entries removed from the index of expiries, *some_left_out to whether the
 * index still has entries. */
MUST_USE int kv_change_sweep(struct kv_change *change, size_t limit,
                             size_t *swept_out, bool *some_left_out);

/* --- kv_lmdb_op: operations, for kv_lmdb_apply and _sweep ----------------- */

/* Does one operation and sets its outcome. A result other than 0 means the same
 * as for kv_change_apply(). */
MUST_USE int kv_change_do(struct kv_change *change, struct kv_op *op);

/* Removes a key if the key's present value expires at expires_ms. */
MUST_USE int kv_change_expire(struct kv_change *change, struct bytes key,
                              int64_t expires_ms);

/* --- The store ------------------------------------------------------------ */

struct kv_lmdb_client {
    struct kv_client client;
    struct kv_lmdb *store;
    struct mailbox *mailbox;
    const struct now *now;
    struct list list_node;
    /* held while the client reads, and by a thread that resizes the map */
    pthread_mutex_t mutex;
    struct MDB_txn *txn; /* the read transaction; reset between calls */
    struct list watches;
    /* number of `watches`; changed by the client only */
    atomic_uint watch_count;
    /* the writer's message: there are new events */
    struct mailbox_note changed;
    atomic_bool is_told; /* the message `changed` is under way */
    struct log_limit log_limit;
    bool gathers;   /* only kv_client_flush() wakes the writer */
    bool has_asked; /* there was a write since the last flush */
};

struct kv_lmdb {
    struct kv_env env; /* env.env is NULL after a failed kv_env_reopen() */
    struct kv_env_options env_options;
    struct kv_lmdb_options options;
    struct kv_cache *cache; /* NULL without a cache */
    struct kv_events *events;
    atomic_uint watch_count; /* number of all clients' watches */
    pthread_mutex_t clients_mutex;
    struct list clients; /* guarded by clients_mutex, like client_count */
    unsigned client_count;

    pthread_mutex_t queue_mutex; /* guards the fields down to is_paused */
    pthread_cond_t queue_changed;
    struct kv_write *queue_first;
    struct kv_write **queue_end;
    size_t queue_writes; /* including the writes being done */
    size_t queue_bytes;
    size_t signal_at; /* the writer sleeps until this many writes wait */
    bool is_stopping;
    bool is_paused; /* another process may write; writes get KV_BUSY */

    pthread_t thread;
    bool is_running; /* the writer's thread runs; known to the main thread */

    /* Used only by the writer. */
    bool is_broken;      /* the disk failed: all writes get KV_ERROR */
    bool is_cramped;     /* the file cannot grow for now */
    uint64_t look_at_ms; /* when is_cramped is checked again; monotonic */
    bool is_unsynced;    /* there was a commit since the last sync */
    bool has_expiring;   /* the index of expiries may have entries */
    uint64_t sync_at_ms; /* next sync; monotonic, like sweep_at_ms */
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

/* To be called after MDB_MAP_FULL. Clears the slots of dead readers, or makes
 * the map larger. Returns true if there may be room now. */
MUST_USE bool kv_lmdb_make_room(struct kv_lmdb *store, bool beyond_max);

/* Calls kv_env_trim() while all clients are locked. */
void kv_lmdb_trim(struct kv_lmdb *store);

/* Opens the environment anew if LMDB has given it up (kv_env_is_given_up()), so
 * that reads go on. Returns whether it had. Only the writer's thread calls this
 * function. */
bool kv_lmdb_revive(struct kv_lmdb *store);

/* Calls kv_env_adopt() while all clients are locked. The calling thread must
 * hold no client's lock. */
int kv_lmdb_adopt(struct kv_lmdb *store);

/* --- kv_lmdb_read --------------------------------------------------------- */

/* Begins to read: if the result is 0, client->txn sees the store's present
 * state until kv_lmdb_read_end(). */
MUST_USE int kv_lmdb_read_begin(struct kv_lmdb_client *client);
void kv_lmdb_read_end(struct kv_lmdb_client *client);

/* Returns the revision that a reader sees now; 0 if the revision cannot be
 * read, which is logged. */
uint64_t kv_lmdb_read_revision(struct kv_lmdb_client *client);

/* kv_lmdb_log_fault() logs a reader's failure, kv_lmdb_log_corrupt() the key of
 * a corrupt record. The number of log lines is limited. */
void kv_lmdb_log_fault(struct kv_lmdb_client *client, int rc);
void kv_lmdb_log_corrupt(struct kv_lmdb_client *client, struct bytes key);

/* --- kv_lmdb_watch -------------------------------------------------------- */

void kv_lmdb_watch_init(struct kv_lmdb_client *client);
MUST_USE bool kv_lmdb_watch(struct kv_client *base, struct kv_watch *watch);
void kv_lmdb_unwatch(struct kv_client *base, struct kv_watch *watch);

/* Tells all clients with watches that there are new events. Called by the
 * writer. */
void kv_lmdb_tell_watchers(struct kv_lmdb *store);

/* --- kv_lmdb_group: the writer's thread only ------------------------------ */

/* Does the writes from `first` on, up to the one before `end`, and sets their
 * outcomes. All writes go into one transaction. If the transaction fails, each
 * half of the group is tried alone, and so on, down to single writes: only
 * writes that cannot be done fail. */
void kv_lmdb_run_group(struct kv_lmdb *store, struct kv_write *first,
                       struct kv_write *end);

MUST_USE int kv_lmdb_begin(struct kv_lmdb *store, struct kv_change *change);
void kv_lmdb_note_commit(struct kv_lmdb *store, const struct kv_change *change);

/* Logs LMDB's code and returns the outcome for the failed write: no room, a
 * failure of this write, or the end of all writing. */
enum kv_outcome kv_lmdb_fail(struct kv_lmdb *store, int rc);

/* --- kv_lmdb_writer ------------------------------------------------------- */

/* Queues a write for kv_client_write(). Returns false if the write is queued,
 * true if the write was rejected at once. Unless `wakes` is set, the caller
 * must wake the writer later. */
MUST_USE bool kv_lmdb_put_write(struct kv_lmdb *store, struct mailbox *mailbox,
                                struct kv_write *write, bool wakes);

/* Wakes the writer if enough writes wait. */
void kv_lmdb_wake_writer(struct kv_lmdb *store);

/* The main function of the writer's thread. */
void *kv_lmdb_run_writer(void *context);

#endif
