/*
 * cache_folder - the folder of a cache on disk: whose it is, and whether there
 * is any use in writing to it.
 *
 * One process at a time has it (flock): two servers, or the two of an upgrade,
 * do not remove each other's files. Only names that files of a cache have are
 * looked at; what else lies there is left alone.
 *
 *   HASH.SERIAL        an entry: the hash of its key, and a number that no
 *                      other file had, each in 16 digits
 *   HASH.SERIAL.new    one that is being written; a rename makes it the other
 *
 * Thread: any; but those that say so.
 * Owns:   its descriptor.
 */
#ifndef CACHE_CACHE_FOLDER_H
#define CACHE_CACHE_FOLDER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    CACHE_FILE_NAME_BYTES = 40,
    CACHE_FOLDER_RETRY_MS = 1000 /* no write for so long after a failure */
};

struct cache_folder {
    int fd;
    const char *path;    /* for messages; borrowed */
    uint32_t run;        /* of this process: upper half of its serials */
    atomic_uint serials; /* lower half of the latest serial */
    atomic_bool is_ours; /* it is locked, and may be changed */
    _Atomic uint64_t retry_ms;
    bool is_failing; /* a failure was logged; the queue's thread's */
};

struct cache_file_name {
    uint64_t hash;
    uint64_t serial;
};

/* Opens the folder. 0; -EPERM: it is another user's, or others may write in it;
 * or another -errno. */
MUST_USE int cache_folder_open(struct cache_folder *folder, const char *path);
void cache_folder_close(struct cache_folder *folder);

/* Locks the folder for this process. 0 or -errno; -EWOULDBLOCK: it is taken. */
MUST_USE int cache_folder_take(struct cache_folder *folder);
void cache_folder_leave(struct cache_folder *folder);

/* Whether a file may be begun. */
bool cache_folder_takes(const struct cache_folder *folder);

/* Notes how writing went, 0 or -errno; the first failure is logged. The queue's
 * thread's. */
void cache_folder_note(struct cache_folder *folder, int err);

/* --- Names --------------------------------------------------------------- */

uint64_t cache_folder_next_serial(struct cache_folder *folder);

/* Whether this process has made the file of that name. */
static inline bool cache_folder_has_made(const struct cache_folder *folder,
                                         const struct cache_file_name *name)
{
    return name->serial >> 32 == folder->run;
}

void cache_file_name_put(const struct cache_file_name *name, bool is_new,
                         char text[CACHE_FILE_NAME_BYTES]);

/* Reads the name of a file. False: it is the name of something else. */
bool cache_file_name_read(struct cache_file_name *name, bool *is_new_out,
                          const char *text);

#endif
