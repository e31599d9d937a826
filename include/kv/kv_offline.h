/*
 * kv_offline - a store as one thing: copied, or read from end to end, by a
 * command beside the process that writes.
 *
 * What is read is the store as it was at one moment, which keeps the pages
 * freed meanwhile from being used again: the file may grow by as much as is
 * written while it lasts.
 *
 * Not in the process that has the store open: closing a second environment of
 * the same folder would take the first one's locks away.
 *
 * Thread: any.
 * Owns:   nothing.
 */
#ifndef KV_KV_OFFLINE_H
#define KV_KV_OFFLINE_H

#include <limits.h>

#include "kv/kv_record.h"

/* The place that a copy goes to: its names are looked up in folders that are
 * open, so that nobody leads it elsewhere while it is made. */
struct kv_target {
    const char *to;         /* as people call it */
    int folder;             /* the copy's; of a new one that which it is in */
    char new[NAME_MAX + 1]; /* the name of the one to be made; "": none */
};

/* A copy that is under way. It is made in three steps, so that whoever reads
 * the store need not be whoever may write the copy. */
struct kv_backup {
    const struct kv_target *target;
    int folder;   /* -1: not open */
    int fd;       /* of the copy, which has no name of a store yet */
    bool is_made; /* the folder */
};

/* Makes the target's folder, if it is new, and in it an empty file for the
 * copy: a store already there stays, -EEXIST, and so does what has come to be
 * where the folder was to be. 0 or -errno, logged. The target is borrowed. */
MUST_USE int kv_offline_begin_backup(struct kv_backup *backup,
                                     const struct kv_target *target);

/* Writes a store with the same content, without pages that are free, to fd. 0
 * or -errno, logged. */
MUST_USE int kv_offline_copy(const char *path, int fd);

/* Gives the copy its name: on disk when it returns, and there whole or not at
 * all. 0 or -errno, logged; over either way. */
MUST_USE int kv_offline_keep_backup(struct kv_backup *backup);

/* Gives the copy up, and leaves nothing of it. */
void kv_offline_drop_backup(struct kv_backup *backup);

/* Takes one record. Anything but 0 ends the walk. Key and record are good until
 * it returns. */
typedef int (*kv_record_fn)(void *context, struct bytes key,
                            const struct kv_record *record);

/* Calls on_record for each key that has not expired by now_ms, in order.
 * Returns what it returned, 0, or -errno, logged: -EPROTO for a corrupt
 * record. */
MUST_USE int kv_offline_walk(const char *path, int64_t now_ms,
                             kv_record_fn on_record, void *context);

#endif
