/*
 * kv_lmdb - keys in an LMDB environment: a folder that its own tools read.
 *
 *   client (worker) --read transaction, renewed and reset in each call--> map
 *   client (worker) --write--> [ queue ] --> writer --one commit--> disk
 *         ^                                  |
 *         +----------- mailbox <-- notes ----+
 *
 * Reads never wait for writes. A read copies the value, up to
 * KV_VALUE_BYTES_MAX, before the call ends (a millisecond per 5 MiB or so, more
 * when the pages come from disk). A transaction that stayed open for a slow
 * client would keep all pages freed since from being used again, and the file
 * would grow without bound.
 *
 * One thread writes. All waiting writes go into one transaction and one sync,
 * and are then answered; with KV_SYNC_FULL the thread first waits a little for
 * the clients that it answered last. A write that finds no room fails alone;
 * the others of its transaction do not, and reads go on.
 *
 * With a kv_cache, a get is answered from there if possible.
 *
 * In the folder, data.mdb and lock.mdb are LMDB's; the process that may write
 * holds sprintd.lock. In data.mdb: `values`, key to kv_record; `expiry`, time
 * (8 bytes, big-endian) to one key or more; `meta`.
 *
 * Locks, in this order: the list of clients, then a client's (held while it
 * reads). The queue's and the cache's are each taken alone.
 *
 * Thread: the main thread opens, pauses, stops and closes, before and after
 *         workers run; kv_lmdb_client_create() is the worker's; kv_lmdb_count()
 *         any.
 * Owns:   the environment, the lock, the writer's thread.
 */
#ifndef KV_LMDB_KV_LMDB_H
#define KV_LMDB_KV_LMDB_H

#include "base/now.h"
#include "kv/kv_cache.h"
#include "kv/kv_store.h"

/* The names of the folder's files, ended by NULL. */
extern const char *const kv_lmdb_files[];

enum kv_sync {
    KV_SYNC_FULL,     /* answered when on disk */
    KV_SYNC_INTERVAL, /* on disk within sync_interval_ms */
    KV_SYNC_OFF       /* on disk when the kernel writes it */
};

/* KV_SYNC_INTERVAL and KV_SYNC_OFF lose nothing when the process dies. When the
 * machine dies, the last writes may be lost, or the store must be restored. */
struct kv_lmdb_options {
    const char *path;     /* the folder, made (0700) if missing; borrowed */
    uint64_t bytes_max;   /* size of the map; 0: KV_LMDB_BYTES_MAX */
    uint64_t bytes_first; /* its first size; 0: KV_LMDB_BYTES_FIRST */
    enum kv_sync sync;
    unsigned sync_interval_ms; /* 0: 1 s */
    size_t queue_writes_max;   /* 0: 65536 */
    size_t queue_bytes_max;    /* bytes of keys and values; 0: 256 MiB */
    unsigned clients_max;      /* 0: KV_LMDB_CLIENTS_MAX */
    unsigned sweep_ms;         /* time between sweeps of expired keys; 0: 1 s */
    void (*read_clock)(struct now *now); /* NULL: now_refresh */
    /* The cache in memory; bytes_max 0: none. */
    struct kv_cache_options cache;
};

enum { KV_LMDB_CLIENTS_MAX = 1024 }; /* more than any machine has workers */

#define KV_LMDB_BYTES_MAX ((uint64_t)1 << 36)   /* 64 GiB */
#define KV_LMDB_BYTES_FIRST ((uint64_t)1 << 26) /* 64 MiB */

struct kv_lmdb_counts {
    uint64_t keys; /* including expired ones, until swept */
    uint64_t revision;
    uint64_t map_bytes;
    uint64_t used_bytes; /* size of the file */
    uint64_t commits;    /* this and all below: since the store was opened */
    uint64_t writes;     /* writes that these commits answered */
    uint64_t swept;
    uint64_t queue_writes; /* waiting now */
    uint64_t queue_bytes;
    struct kv_cache_counts cache; /* all 0 without a cache */
};

struct kv_lmdb; /* opaque */

/* Opens the store and starts its writer. 0 or -errno, logged: -EBUSY: another
 * process has the folder; -EPROTO: another version's layout. Not to be called
 * before a fork(), nor twice in a process. */
MUST_USE int kv_lmdb_open(struct kv_lmdb **store_out,
                          const struct kv_lmdb_options *options);

/* Writes all that waits and ends the writer: answers are sent before it
 * returns, none after, and later writes are KV_ERROR. To be called before the
 * mailbox of any client is destroyed. A second call does nothing. */
void kv_lmdb_stop(struct kv_lmdb *store);

/* Lets another process write: waiting writes are done, later ones are KV_BUSY,
 * and reads go on and see the other's commits. kv_lmdb_resume() ends that: 0 or
 * -errno, logged; -EBUSY: the other still has the folder. */
void kv_lmdb_pause(struct kv_lmdb *store);
MUST_USE int kv_lmdb_resume(struct kv_lmdb *store);

/* Stops the store if that has not been done. All its clients must be destroyed
 * already. NULL is accepted. */
void kv_lmdb_close(struct kv_lmdb *store);

/* Creates a worker's client, which is answered through mailbox; now is the
 * worker's clock. NULL: no memory, or too many clients. */
MUST_USE struct kv_client *kv_lmdb_client_create(struct kv_lmdb *store,
                                                 struct mailbox *mailbox,
                                                 const struct now *now);

/* From now on a write alone does not wake the writer; kv_client_flush() does.
 * So all writes of a turn share a transaction. The caller flushes at each
 * turn's end. */
void kv_lmdb_client_gather(struct kv_client *client);

void kv_lmdb_count(struct kv_lmdb *store, struct kv_lmdb_counts *counts);

#endif
