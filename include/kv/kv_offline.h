/*
 * kv_offline - copies a whole store, or reads it from end to end, for a command
 * beside the process that writes.
 *
 * Reading sees the store as it was at one moment, so pages that are freed
 * meanwhile cannot be used again: the file may grow by as much as is written
 * while the reading lasts.
 *
 * The process that has the store open must not call this: closing a second
 * environment of the same folder would release the locks of the first.
 *
 * Thread: any.
 * Owns:   nothing.
 */
#ifndef KV_KV_OFFLINE_H
#define KV_KV_OFFLINE_H

#include <limits.h>

#include "kv/kv_record.h"

/* Where a copy goes. Its names are looked up below open folders, so that nobody
 * can redirect the copy while it is made. */
struct kv_target {
    const char *to;         /* the path, for messages */
    int folder;             /* the copy's folder, or the parent of a new one */
    char new[NAME_MAX + 1]; /* name of the folder to make; "": it exists */
};

/* A copy that is under way. It is made in three steps, so that whoever reads
 * the store need not be whoever may write the copy. */
struct kv_backup {
    const struct kv_target *target;
    int folder;   /* -1: not open */
    int fd;       /* the copy's file while it has no name yet */
    bool is_made; /* the folder was made by this backup */
};

/* Makes the target's folder if it is new, and in it an empty file for the copy.
 * -EEXIST: there is a store already, or something has taken the new folder's
 * name. 0 or -errno, logged. The target is borrowed. */
MUST_USE int kv_offline_begin_backup(struct kv_backup *backup,
                                     const struct kv_target *target);

/* Writes a copy of the store at path, without free pages, to fd. Returns 0 or
 * -errno, logged. */
MUST_USE int kv_offline_copy(const char *path, int fd);

/* Gives the copy its name, whole and on disk, or not at all. Returns 0 or
 * -errno, logged; the backup is over either way. */
MUST_USE int kv_offline_keep_backup(struct kv_backup *backup);

/* Gives the backup up and removes what it has made. */
void kv_offline_drop_backup(struct kv_backup *backup);

/* Is given one record. Any result but 0 ends the walk. Key and record are valid
 * until it returns. */
typedef int (*kv_record_fn)(void *context, struct bytes key,
                            const struct kv_record *record);

/* Calls on_record for each key that has not expired by now_ms, in order.
 * Returns 0, the result that ended the walk, or -errno, logged: -EPROTO for a
 * corrupt record. */
MUST_USE int kv_offline_walk(const char *path, int64_t now_ms,
                             kv_record_fn on_record, void *context);

#endif
