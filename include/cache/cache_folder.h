/*
 * cache_folder - the folder of a cache on disk: who owns it, and whether
 * writing to it is of any use.
 *
 * Only one process at a time has the folder (flock). So two servers, or the two
 * processes of an upgrade, do not remove each other's files. Files whose names
 * no cache gives are left alone.
 *
 *   HASH.SERIAL        an entry: the hash of its key, and a number that no
 *                      other file had, each in 16 digits
 *   HASH.SERIAL.new    an entry that is being written; then it is renamed
 *
 * Thread: any, where nothing else is said.
 * Owns:   its descriptor.
 */
#ifndef CACHE_CACHE_FOLDER_H
#define CACHE_CACHE_FOLDER_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    CACHE_FILE_NAME_BYTES = 40,
    /* After a failure to write a file, no file is begun for this long. */
    CACHE_FOLDER_RETRY_MS = 1000
};

struct cache_folder {
    int fd;
    const char *path;    /* path of the folder, for messages; borrowed */
    uint32_t run;        /* number of this process: upper half of serials */
    atomic_uint serials; /* lower half of the serial given last */
    atomic_bool is_ours; /* the folder is locked, and may be changed */
    _Atomic uint64_t retry_ms;
    bool is_failing; /* a failure was logged; for the queue's thread */
};

struct cache_file_name {
    uint64_t hash;
    uint64_t serial;
};

/* Opens the folder. Returns 0 on success, -EPERM when the folder is another
 * user's or others may write in it, or another -errno. */
MUST_USE int cache_folder_open(struct cache_folder *folder, const char *path);
void cache_folder_close(struct cache_folder *folder);

/* Locks the folder for this process. Returns 0 on success, -EWOULDBLOCK when
 * another process has the folder, or another -errno. */
MUST_USE int cache_folder_take(struct cache_folder *folder);
void cache_folder_leave(struct cache_folder *folder);

/* Whether a new file may be begun now: the folder is ours, and the last failure
 * to write is not too recent. */
bool cache_folder_takes(const struct cache_folder *folder);

/* Notes the result of writing, which is 0 or -errno. The first of several
 * failures is logged. To be called in the queue's thread. */
void cache_folder_note(struct cache_folder *folder, int err);

/* --- Names --------------------------------------------------------------- */

uint64_t cache_folder_next_serial(struct cache_folder *folder);

/* Whether this process has made the file with that name. */
static inline bool cache_folder_has_made(const struct cache_folder *folder,
                                         const struct cache_file_name *name)
{
    return name->serial >> 32 == folder->run;
}

void cache_file_name_put(const struct cache_file_name *name, bool is_new,
                         char text[CACHE_FILE_NAME_BYTES]);

/* Reads the name of a file. *is_new_out becomes true if the name ends in
 * ".new". Returns false when no cache gives such a name. */
bool cache_file_name_read(struct cache_file_name *name, bool *is_new_out,
                          const char *text);

#endif
