/*
 * kv_offline - copies or reads a whole store. Used by a command that runs
 * beside the process that writes to the store.
 *
 * A reader sees the store as it was at one moment, so pages that are freed
 * meanwhile cannot be reused. While the reader reads, all writes make the file
 * grow.
 *
 * The process that has the store open must not call these functions: closing a
 * second environment of the same folder would release the locks of the first.
 *
 * Thread: any.
 * Owns:   nothing.
 */
#ifndef KV_KV_OFFLINE_H
#define KV_KV_OFFLINE_H

#include <limits.h>

#include "kv/kv_record.h"

/* The place for a copy. The copy's names are looked up in folders that are held
 * open, so that nobody can redirect the copy while it is made. */
struct kv_target {
    const char *to;         /* the path, for messages */
    int folder;             /* the copy's folder, or the parent of a new one */
    char new[NAME_MAX + 1]; /* name of the new folder; "" if there is none */
};

/* A copy that is under way. Begin, copy and keep are separate steps, so that
 * one process can read the store while another, with other rights, owns the
 * copy. */
struct kv_backup {
    const struct kv_target *target;
    int folder;   /* -1: not open */
    int fd;       /* the copy's file, until the backup is over */
    bool is_made; /* the folder was made by this backup */
};

/* Makes the target's folder if it is new, and an empty file for the copy in the
 * folder. The target is borrowed. Returns 0 or -errno, logged; -EEXIST if the
 * folder has a store already, or the new folder's name is taken. */
MUST_USE int kv_offline_begin_backup(struct kv_backup *backup,
                                     const struct kv_target *target);

/* Writes a copy of the store at `path`, without free pages, to `fd`. Returns 0
 * or -errno, logged. */
MUST_USE int kv_offline_copy(const char *path, int fd);

/* Syncs the copy to disk and gives it its final name, without replacing a file.
 * Returns 0 or -errno, logged. In both cases the backup is over. */
MUST_USE int kv_offline_keep_backup(struct kv_backup *backup);

/* Gives the backup up and removes the files and folders that it has made. */
void kv_offline_drop_backup(struct kv_backup *backup);

/* A callback for one record. Key and record are valid only during the call. A
 * result other than 0 ends the walk. */
typedef int (*kv_record_fn)(void *context, struct bytes key,
                            const struct kv_record *record);

/* Calls on_record for each key that has not expired by now_ms, in order.
 * Returns 0, or the callback's result that ended the walk, or -errno, logged;
 * -EPROTO for a corrupt record. */
MUST_USE int kv_offline_walk(const char *path, int64_t now_ms,
                             kv_record_fn on_record, void *context);

#endif
