/*
 * cache_disk - the entries of a cache, as files in a folder: written by a
 * thread of its own, and found again when the next process starts.
 *
 *   keep ---> queue ---> file ---> on_kept
 *   start --> queue ---> each file's head ---> on_found
 *   wake ---> a body is made of a file. A short body is checked at once; a long
 *             one is checked by the queue, block by block, while it is read
 *
 * A damaged file is removed, and its entry with it (on_lost). While the folder
 * cannot be written to, nothing new is kept: this is logged once, and writing
 * is tried again.
 *
 * Thread: cache_disk_wake(), _keep(), _change() and _forget() any; events come
 *         in the queue's thread; the rest is for the main thread.
 * Owns:   the folder and the queue.
 */
#ifndef CACHE_CACHE_DISK_H
#define CACHE_CACHE_DISK_H

#include "cache/cache_entry.h"

enum {
    /* Most bytes of bodies that wait in memory to be written. */
    CACHE_DISK_PENDING_MAX = 33554432,
    CACHE_DISK_SCAN = 64 /* number of files that are looked at in one go */
};

struct cache_disk_events {
    /* Called when the entry has been written to `file`, or could not be written
     * (`file` is NULL then). The callee owns the reference to `file`. */
    void (*on_kept)(void *context, struct cache_entry *entry,
                    struct cache_file *file);
    /* Called when the entry's body broke off, when a part of it did not get to
     * the disk, or when it was found to be damaged there. */
    void (*on_lost)(void *context, struct cache_entry *entry);
    /* Called for an entry that was found in `file`. Returns false when the
     * entry is not wanted. */
    bool (*on_found)(void *context, struct cache_entry *entry,
                     struct cache_file *file);
};

struct cache_disk_options {
    const char *folder;     /* borrowed */
    struct bytes surrogate; /* our name in Surrogate-Control */
    bool is_awaited;        /* another process will soon leave the folder */
};

struct cache_disk; /* opaque */

/* Opens the folder and starts the queue. Returns 0 on success. Returns -EPERM
 * when the folder is another user's or others may write in it, -EWOULDBLOCK
 * when another process has it and is_awaited is false, or another -errno. */
MUST_USE int cache_disk_open(struct cache_disk **disk_out,
                             const struct cache_disk_options *options);

/* Begins to read the entries that the folder has, and to send events. */
void cache_disk_start(struct cache_disk *disk,
                      const struct cache_disk_events *events, void *context);

/* Writes all that is still to be written, and ends the thread. */
void cache_disk_stop(struct cache_disk *disk);
void cache_disk_close(struct cache_disk *disk); /* NULL is accepted */

/* Leaves the folder to another process. Nothing is written or removed there any
 * more. */
void cache_disk_leave(struct cache_disk *disk);

/* Returns the spooling that brings long bodies to this disk. The caller puts it
 * into its cache_body_counts. */
struct cache_spooling *cache_disk_spooling(struct cache_disk *disk);

/* Gives the entry to the queue, which writes it to a file. `body` is its body,
 * which has ended, or NULL if it has none. Returns true when either
 * on_kept or on_lost will be called: on_lost if the body has broken off, or if
 * a part of a spooled body did not get to the disk, and on_kept otherwise.
 * Returns false, and calls neither, when memory is short. For a body that is
 * not spooled it also returns false when too many bytes wait to be written, or
 * no file may be begun now. */
MUST_USE bool cache_disk_keep(struct cache_disk *disk,
                              struct cache_entry *entry,
                              struct cache_body *body);

/* Replaces the entry in the file by `entry`. Both have the same body, so only
 * the head is written. The file is removed if that fails. */
void cache_disk_change(struct cache_disk *disk, struct cache_entry *entry,
                       struct cache_file *file);

/* Removes the file from the folder. */
void cache_disk_forget(struct cache_disk *disk, struct cache_file *file);

/* Returns the body that is in the file. A body that has not been checked yet is
 * not whole, and the caller passes it to cache_disk_check(). Returns NULL when
 * the body is damaged or gone (*is_lost_out is true then), or when memory or
 * descriptors are short now (*is_lost_out is false then). */
MUST_USE struct cache_body *cache_disk_wake(struct cache_disk *disk,
                                            struct cache_file *file,
                                            struct cache_body_counts *counts,
                                            bool *is_lost_out);

/* Gives the entry's body to the queue, which checks it block by block. Readers
 * get the bytes that have been checked so far. A damaged body breaks off, and
 * on_lost is called. */
void cache_disk_check(struct cache_disk *disk, struct cache_entry *entry,
                      struct cache_file *file, struct cache_body *body);

struct cache_disk_counts {
    uint64_t written; /* number of files written */
    uint64_t refused; /* number of entries that were not written */
    uint64_t damaged; /* number of files that were found to be damaged */
};

struct cache_disk_counts cache_disk_count(const struct cache_disk *disk);

#endif
