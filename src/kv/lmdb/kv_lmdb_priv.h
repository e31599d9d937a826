/*
 * kv_lmdb_priv - what the files of the LMDB store share. Each calls only those
 * below it:
 *
 *   kv_lmdb_client  questions of one thread: what the client's table names
 *   kv_lmdb         the store as a whole: open, stop, hand over, close
 *   kv_lmdb_writer  the queue, the thread, and when it sweeps expired keys
 *   kv_gather       for whom a group waits
 *   kv_lmdb_group   many writes in one transaction, and what goes wrong
 *   kv_lmdb_watch   who watches at a client
 *   kv_lmdb_read    a reader for the length of a call, and what it met
 *   kv_lmdb_room    the map changes its size while no client reads
 *   kv_lmdb_sweep   removes expired keys, in a transaction
 *   kv_lmdb_apply   the transaction: begin, writes, commit
 *   kv_lmdb_op      what an operation does inside of a transaction
 *   kv_lmdb_env     the environment and its folder: open, grow, close
 *   kv_lmdb_length  whether its file has lost its end
 *
 * Functions that return int without another word return 0 or what LMDB does:
 * an errno, or one of its own numbers, below zero.
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
    unsigned values; /* databases in it */
    unsigned expiry;
    unsigned meta;
    int lock_fd;
    uint64_t map_bytes;
    uint64_t bytes_max;
    bool is_beyond_max; /* grown so, and not trimmed since */
};

enum kv_access {
    KV_ACCESS_ALONE, /* writes; nobody else may */
    KV_ACCESS_READ   /* beside a process that writes */
};

struct kv_env_options {
    const char *path;
    enum kv_access access;
    uint64_t bytes_first;
    uint64_t bytes_max;
    unsigned readers_max;
    bool without_sync;
};

/* 0 or -errno, logged; see kv_lmdb_open(). */
MUST_USE int kv_env_open(struct kv_env *env,
                         const struct kv_env_options *options);
void kv_env_close(struct kv_env *env); /* a second call does nothing */

/* Gives up the right to write, and takes it again: 0 or -errno, logged. */
void kv_env_unlock(struct kv_env *env);
MUST_USE int kv_env_lock(struct kv_env *env, const char *path);

/* Syncs a folder, and the one above unless that is out of reach, as it is once
 * the sandbox is closed: what is in a file is on disk only when all names on the
 * way to it are. LMDB syncs none. 0 or -errno. */
MUST_USE int kv_env_sync_names(int folder);

/* Refuses a file that was cut off: EIO, logged. Whoever touches a page of the map
 * that the file does not have dies of SIGBUS, and the server with it. Pages may
 * be missing at the end that are free and never were written: nobody touches
 * them before they are. */
MUST_USE int kv_env_check_length(struct kv_env *env, const char *path);

/* Clears the places of readers whose processes died: the pages they saw could
 * never be used again. True: there were some. Any thread. */
bool kv_env_clear_readers(struct kv_env *env);

/* Maps what another process has made the map. The same as below. */
int kv_env_adopt(struct kv_env *env);

/* Makes the map larger, to its maximum at most; for deletes, which need room
 * for a moment, a little beyond. False: it is there already. No transaction
 * may be active in the process. */
MUST_USE bool kv_env_grow(struct kv_env *env, bool beyond_max);

/* How many pages the next transaction may use without a longer file. */
uint64_t kv_env_count_free(const struct kv_env *env);
size_t kv_env_page_bytes(const struct kv_env *env);

/* Takes back what was given beyond the maximum, as far as it is free. */
void kv_env_trim(struct kv_env *env);

/* --- kv_lmdb_apply -------------------------------------------------------- */

/* A transaction that changes things. */
struct kv_change {
    const struct kv_env *env;
    struct MDB_txn *txn;
    int64_t now_ms;
    uint64_t revision;        /* the last one given */
    uint64_t revision_begun;  /* what it was before */
    bool has_expiring;        /* something put has an end */
    struct kv_cache *cache;   /* is told of each key, if there is one */
    struct kv_events *events; /* is told what has become of it */
};

/* Environment, cache, events and the last revision that was committed are
 * set. */
MUST_USE int kv_change_begin(struct kv_change *change, int64_t now_ms);
/* The change is over, whatever comes back. */
MUST_USE int kv_change_commit(struct kv_change *change);
void kv_change_abort(struct kv_change *change);

/* Sets the outcomes, and is_done. Anything but 0: the change must be aborted,
 * and the write has no outcome. */
MUST_USE int kv_change_apply(struct kv_change *change, struct kv_write *write);

/* The last revision given; what a reader's transaction sees. */
MUST_USE int kv_env_read_revision(const struct kv_env *env, struct MDB_txn *txn,
                                  uint64_t *revision_out);

/* --- kv_lmdb_sweep -------------------------------------------------------- */

/* Removes up to limit keys whose time is over; sets how many entries of the
 * index it went through, and whether some are left in it. */
MUST_USE int kv_change_sweep(struct kv_change *change, size_t limit,
                             size_t *swept_out, bool *some_left_out);

/* --- kv_lmdb_op: of a change, for kv_lmdb_apply and _sweep --------------- */

/* Sets the outcome. Anything but 0: as above. */
MUST_USE int kv_change_do(struct kv_change *change, struct kv_op *op);

/* Removes a key whose time was over then, if that is so still. */
MUST_USE int kv_change_expire(struct kv_change *change, struct bytes key,
                              int64_t expires_ms);

/* --- The store ------------------------------------------------------------ */

struct kv_lmdb_client {
    struct kv_client client;
    struct kv_lmdb *store;
    struct mailbox *mailbox;
    const struct now *now;
    struct list list_node;
    pthread_mutex_t mutex; /* held while it reads; nobody else wants it but
                              who makes the map larger */
    struct MDB_txn *txn;   /* reset, outside of calls */
    struct list watches;
    atomic_uint watch_count;     /* the client's to change */
    struct mailbox_note changed; /* the writer's word that there are events */
    atomic_bool is_told;         /* that word is on its way */
    struct log_limit log_limit;
    bool gathers;   /* flush wakes the writer */
    bool has_asked; /* since the last flush */
};

struct kv_lmdb {
    struct kv_env env;
    struct kv_lmdb_options options;
    struct kv_cache *cache; /* NULL: none */
    struct kv_events *events;
    atomic_uint watch_count; /* of all clients */
    pthread_mutex_t clients_mutex;
    struct list clients; /* guarded by it, as is their count */
    unsigned client_count;

    pthread_mutex_t queue_mutex; /* guards the queue */
    pthread_cond_t queue_changed;
    struct kv_write *queue_first;
    struct kv_write **queue_end;
    size_t queue_writes; /* with those under way */
    size_t queue_bytes;
    size_t signal_at; /* until so many wait the writer sleeps */
    bool is_stopping;
    bool is_paused; /* it stops so that another process may write */

    pthread_t thread;
    bool is_running; /* the main thread's */

    /* The writer's. */
    bool is_broken;      /* the disk failed: nothing is written any more */
    bool is_cramped;     /* the file could not grow; it may again */
    uint64_t look_at_ms; /* when that is looked at; monotonic */
    bool is_unsynced;    /* commits since the last sync */
    bool has_expiring;   /* the index may hold something */
    uint64_t sync_at_ms; /* monotonic, both */
    uint64_t sweep_at_ms;
    struct kv_gather gather;
    struct log_limit log_limit;

    /* The writer's to change, anybody's to read. */
    _Atomic uint64_t revision;
    _Atomic uint64_t commits;
    _Atomic uint64_t writes;
    _Atomic uint64_t swept;
};

/* --- kv_lmdb_room --------------------------------------------------------- */

/* After MDB_MAP_FULL. True: there may be room now, at best without growing. */
MUST_USE bool kv_lmdb_make_room(struct kv_lmdb *store, bool beyond_max);

/* kv_env_trim(), with all clients locked. */
void kv_lmdb_trim(struct kv_lmdb *store);

/* kv_env_adopt(), likewise; any thread that has locked no client. */
int kv_lmdb_adopt(struct kv_lmdb *store);

/* --- kv_lmdb_read --------------------------------------------------------- */

/* 0: client->txn sees the present, until kv_lmdb_read_end(). */
MUST_USE int kv_lmdb_read_begin(struct kv_lmdb_client *client);
void kv_lmdb_read_end(struct kv_lmdb_client *client);

/* The revision of what a reader sees now; 0: it cannot be read, and is
 * logged. */
uint64_t kv_lmdb_read_revision(struct kv_lmdb_client *client);

/* What LMDB said to a reader, and which record is none; not too often. */
void kv_lmdb_log_fault(struct kv_lmdb_client *client, int rc);
void kv_lmdb_log_corrupt(struct kv_lmdb_client *client, struct bytes key);

/* --- kv_lmdb_watch -------------------------------------------------------- */

void kv_lmdb_watch_init(struct kv_lmdb_client *client);
MUST_USE bool kv_lmdb_watch(struct kv_client *base, struct kv_watch *watch);
void kv_lmdb_unwatch(struct kv_client *base, struct kv_watch *watch);

/* Tells all clients where somebody watches that there are new events: the
 * writer's thread. */
void kv_lmdb_tell_watchers(struct kv_lmdb *store);

/* --- kv_lmdb_group: the writer's thread only ------------------------------ */

/* Gives each write its outcome. Those up to end, which is not among them, go
 * into one transaction; where that fails its halves are tried, down to the
 * writes that cannot be done: the rest does not suffer for them. */
void kv_lmdb_run_group(struct kv_lmdb *store, struct kv_write *first,
                       struct kv_write *end);

MUST_USE int kv_lmdb_begin(struct kv_lmdb *store, struct kv_change *change);
void kv_lmdb_note_commit(struct kv_lmdb *store, const struct kv_change *change);

/* Logs what LMDB said, and judges it: no room, a fault of this write, or the
 * end of all writing. */
enum kv_outcome kv_lmdb_fail(struct kv_lmdb *store, int rc);

/* --- kv_lmdb_writer ------------------------------------------------------- */

/* Takes a write in, or answers it at once; kv_client_write()'s. Unless it
 * wakes the writer, somebody does so later. */
MUST_USE bool kv_lmdb_put_write(struct kv_lmdb *store, struct mailbox *mailbox,
                                struct kv_write *write, bool wakes);

/* Wakes the writer, if enough waits for it. */
void kv_lmdb_wake_writer(struct kv_lmdb *store);

/* The thread's. */
void *kv_lmdb_run_writer(void *context);

#endif
