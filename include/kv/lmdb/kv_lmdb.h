/*
 * kv_lmdb - keys in an LMDB environment, which is a folder that LMDB's own
 * tools can read.
 *
 *   client (worker) --read transaction, renewed and reset in each call--> map
 *   client (worker) --write--> [ queue ] --> writer --one commit--> disk
 *         ^                                  |
 *         +----------- mailbox <-- notes ----+
 *
 * Reads never wait for writes. A read copies the value before the call ends,
 * which takes about a millisecond for 5 MiB, and more when the pages come from
 * disk. If a read transaction stayed open for a slow client, pages freed
 * meanwhile could not be reused, and the file would grow without bound.
 *
 * One thread writes. All waiting writes go into one transaction and one sync,
 * and are answered after the sync. With KV_SYNC_FULL, the thread waits a little
 * before each transaction, so that the clients that it answered last can send
 * their next writes. A write that finds no room fails alone: the other writes
 * of its transaction are done, and reads go on.
 *
 * If there is a kv_cache, a get is answered from the cache when possible.
 *
 * In the folder, data.mdb and lock.mdb are LMDB's files; the process that may
 * write holds a lock on sprintd.lock. data.mdb has three databases: `values`
 * maps a key to a kv_record, `expiry` a time (8 bytes, big-endian) to one or
 * more keys, and `meta` has the layout's version and the last revision.
 *
 * Locks are taken in this order: the lock of the list of clients, then a
 * client's lock (held while the client reads). A thread that takes the queue's
 * lock or a lock of the cache holds no other lock.
 *
 * Thread: the main thread opens, pauses, resumes, stops and closes; a worker
 *         calls kv_lmdb_client_create(); any thread may call kv_lmdb_count().
 * Owns:   the environment, the lock on the folder, the writer's thread.
 */
#ifndef KV_LMDB_KV_LMDB_H
#define KV_LMDB_KV_LMDB_H

#include "base/now.h"
#include "kv/kv_cache.h"
#include "kv/kv_store.h"

/* The names of the folder's files, ended by NULL. */
extern const char *const kv_lmdb_files[];

/* KV_SYNC_INTERVAL and KV_SYNC_OFF lose nothing when the process dies. When the
 * machine dies, the last writes may be lost, or the store must be restored. */
enum kv_sync {
    KV_SYNC_FULL,     /* a write is answered when it is on disk */
    KV_SYNC_INTERVAL, /* a write is on disk within sync_interval_ms */
    KV_SYNC_OFF       /* the kernel decides when a write is on disk */
};

struct kv_lmdb_options {
    const char *path;     /* the folder, made (0700) if missing; borrowed */
    uint64_t bytes_max;   /* the map's largest size; 0: KV_LMDB_BYTES_MAX */
    uint64_t bytes_first; /* the map's first size; 0: KV_LMDB_BYTES_FIRST */
    enum kv_sync sync;
    unsigned sync_interval_ms; /* for KV_SYNC_INTERVAL; 0: 1 s */
    size_t queue_writes_max;   /* writes that may wait; 0: 65536 */
    size_t queue_bytes_max;    /* bytes of these writes; 0: 256 MiB */
    unsigned clients_max;      /* most clients; 0: KV_LMDB_CLIENTS_MAX */
    unsigned sweep_ms;         /* time between sweeps of expired keys; 0: 1 s */
    void (*read_clock)(struct now *now); /* NULL: now_refresh */
    /* The cache in memory; there is none if bytes_max is 0. */
    struct kv_cache_options cache;
};

enum { KV_LMDB_CLIENTS_MAX = 1024 }; /* more than any machine has workers */

#define KV_LMDB_BYTES_MAX ((uint64_t)1 << 36)   /* 64 GiB */
#define KV_LMDB_BYTES_FIRST ((uint64_t)1 << 26) /* 64 MiB */

struct kv_lmdb_counts {
    uint64_t keys; /* includes expired keys that were not swept yet */
    uint64_t revision;
    uint64_t map_bytes;
    uint64_t used_bytes; /* size of the file */
    /* `commits`, `writes` and `swept` count since the store was opened. */
    uint64_t commits;
    uint64_t writes; /* writes that these commits answered */
    uint64_t swept;
    uint64_t queue_writes; /* writes that wait now */
    uint64_t queue_bytes;
    struct kv_cache_counts cache; /* all 0 without a cache */
};

struct kv_lmdb; /* opaque */

/* Opens the store and starts its writer. Returns 0 or -errno, logged; -EBUSY if
 * another process has the folder open, -EPROTO if the layout is another
 * version's. The process must not fork afterwards, and must not open a folder
 * twice. */
MUST_USE int kv_lmdb_open(struct kv_lmdb **store_out,
                          const struct kv_lmdb_options *options);

/* Does all waiting writes and ends the writer's thread. All answers are sent
 * before this function returns; later writes get KV_ERROR. To be called before
 * the mailbox of any client is destroyed. A second call does nothing. */
void kv_lmdb_stop(struct kv_lmdb *store);

/* kv_lmdb_pause() lets another process write: waiting writes are done, later
 * writes get KV_BUSY, and reads go on and see the other process's commits.
 * kv_lmdb_resume() makes this process the writer again, and returns 0 or
 * -errno, logged; -EBUSY if the other process still has the folder open. */
void kv_lmdb_pause(struct kv_lmdb *store);
MUST_USE int kv_lmdb_resume(struct kv_lmdb *store);

/* Closes the store, and stops it first if kv_lmdb_stop() was not called. All
 * clients must be destroyed already. NULL is accepted. */
void kv_lmdb_close(struct kv_lmdb *store);

/* Creates a worker's client. Answers come through `mailbox`; `now` is the
 * worker's clock. Returns NULL if there is no memory, or if there are too many
 * clients. */
MUST_USE struct kv_client *kv_lmdb_client_create(struct kv_lmdb *store,
                                                 struct mailbox *mailbox,
                                                 const struct now *now);

/* From now on, the client's writes do not wake the writer; only
 * kv_client_flush() does. The caller flushes at the end of each turn, so all
 * writes of a turn share a transaction. */
void kv_lmdb_client_gather(struct kv_client *client);

void kv_lmdb_count(struct kv_lmdb *store, struct kv_lmdb_counts *counts);

#endif
