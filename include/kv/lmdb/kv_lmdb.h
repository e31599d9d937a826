/*
 * kv_lmdb - keys in an LMDB environment: a folder that its own tools read.
 *
 *   client (worker) --read transaction, renewed and reset in each call--> map
 *   client (worker) --write--> [ queue ] --> writer --one commit--> disk
 *         ^                                  |
 *         +----------- mailbox <-- notes ----+
 *
 * Reads never wait for writes. What they find is copied out before the call
 * ends, up to KV_VALUE_BYTES_MAX (a millisecond per 5 MiB or so, more when the
 * pages come from disk): a reader that stayed for as long as a slow client
 * takes would keep every page freed since from being used again, and the file
 * would grow without bound.
 *
 * One thread writes. All that waits goes into one transaction, one sync, and is
 * then answered; with KV_SYNC_FULL the thread first waits a little for clients
 * that were answered last. What finds no room fails alone; the rest of its
 * group does not, and reads go on.
 *
 * With a kv_cache, what is got comes from there if it can.
 *
 * Of the folder: data.mdb and lock.mdb are LMDB's, sprintd.lock is held by the
 * process that may write. In data.mdb: `values`, key to kv_record; `expiry`,
 * when (8 bytes, big-endian) to keys, several each; `meta`.
 *
 * Locks, in this order: that of the list of clients, then a client's (held
 * while it reads); the queue's is taken alone, and so are those of the cache.
 *
 * Thread: open, pause, stop and close the main thread's, before and after
 *         workers; kv_lmdb_client_create() the worker's; kv_lmdb_count() any.
 * Owns:   the environment, the lock, the writer's thread.
 */
#ifndef KV_LMDB_KV_LMDB_H
#define KV_LMDB_KV_LMDB_H

#include "base/now.h"
#include "kv/kv_cache.h"
#include "kv/kv_store.h"

/* The names of what is in the folder, ended by NULL. */
extern const char *const kv_lmdb_files[];

enum kv_sync {
    KV_SYNC_FULL,     /* answered when on disk */
    KV_SYNC_INTERVAL, /* on disk within sync_interval_ms */
    KV_SYNC_OFF       /* when the kernel thinks so */
};

/* With KV_SYNC_INTERVAL and KV_SYNC_OFF the death of the process loses nothing;
 * the machine's may lose what was written last, or leave a store that must be
 * restored. */
struct kv_lmdb_options {
    const char *path;     /* the folder, made (0700) if missing; borrowed */
    uint64_t bytes_max;   /* of the map; 0: KV_LMDB_BYTES_MAX */
    uint64_t bytes_first; /* where it begins; 0: KV_LMDB_BYTES_FIRST */
    enum kv_sync sync;
    unsigned sync_interval_ms; /* 0: 1 s */
    size_t queue_writes_max;   /* 0: 65536 */
    size_t queue_bytes_max;    /* of keys and values; 0: 256 MiB */
    unsigned clients_max;      /* 0: 126 */
    unsigned sweep_ms;         /* between looks for what expired; 0: 1 s */
    void (*read_clock)(struct now *now); /* the writer's; NULL: now_refresh */
    /* What is kept in memory; bytes_max is 0: nothing. */
    struct kv_cache_options cache;
};

#define KV_LMDB_BYTES_MAX ((uint64_t)1 << 36)   /* 64 GiB */
#define KV_LMDB_BYTES_FIRST ((uint64_t)1 << 26) /* 64 MiB */

struct kv_lmdb_counts {
    uint64_t keys; /* expired ones too, until they are swept */
    uint64_t revision;
    uint64_t map_bytes;
    uint64_t used_bytes; /* of the file */
    uint64_t commits;    /* since it was opened, as all below */
    uint64_t writes;     /* answered by them */
    uint64_t swept;
    uint64_t queue_writes; /* waiting now */
    uint64_t queue_bytes;
    struct kv_cache_counts cache; /* zeros: there is none */
};

struct kv_lmdb; /* opaque */

/* Opens and starts the writer. 0 or -errno, logged: -EBUSY, another process
 * has the folder; -EPROTO, a layout of another version. Not before a fork(),
 * and not twice in a process. */
MUST_USE int kv_lmdb_open(struct kv_lmdb **store_out,
                          const struct kv_lmdb_options *options);

/* Writes all that waits, and ends the writer: notes are sent before it
 * returns, and none after; a write from then on is KV_ERROR. To be called
 * before a mailbox that a client has goes. A second call does nothing. */
void kv_lmdb_stop(struct kv_lmdb *store);

/* Lets another process write: all that waits is written, then writes are
 * KV_BUSY while reads go on, and see what the other one commits. 0 or -errno,
 * logged, from the other way round: -EBUSY, it has the folder still. */
void kv_lmdb_pause(struct kv_lmdb *store);
MUST_USE int kv_lmdb_resume(struct kv_lmdb *store);

/* Stops the store, if that has not been done. Its clients must be gone. NULL is
 * accepted. */
void kv_lmdb_close(struct kv_lmdb *store);

/* A worker's client: mailbox is where its writes are answered, now what it
 * holds for the time. NULL: no memory, or too many clients. */
MUST_USE struct kv_client *kv_lmdb_client_create(struct kv_lmdb *store,
                                                 struct mailbox *mailbox,
                                                 const struct now *now);

/* From now on kv_client_flush() wakes the writer, and a write alone does not: so
 * all writes of a turn are in one transaction. Who calls this calls that at the
 * end of each turn. */
void kv_lmdb_client_gather(struct kv_client *client);

void kv_lmdb_count(struct kv_lmdb *store, struct kv_lmdb_counts *counts);

#endif
