/*
 * kv_reader - a process that reads a store as its owner, for the one that has
 * asked for it, root's maybe.
 *
 *   asker  <-- bytes, by a pipe --  reader  -- as the owner -->  store
 *     | writes them where they go
 *
 * What lies in a store may take over the process that reads it, and the store's
 * owner can stop that process or keep it waiting for a lock. So it has nothing
 * of the asker's but that pipe and where messages go, and is killed when
 * nothing comes by it for too long.
 *
 * Thread: the main one, in a process that does nothing else.
 * Owns:   the reader's process.
 */
#ifndef TOOLS_KV_READER_H
#define TOOLS_KV_READER_H

#include "base/bytes.h"

enum { KV_READER_PATIENCE_S = 60 };

struct kv_reader {
    const char *folder;
    unsigned patience_s; /* without a byte */
    /* Writes what the store at path says to fd, in the reader's process. 0 or
     * -errno, after a line on stderr. */
    int (*read)(const char *path, int fd);
};

/* Has all of it written to fd, which is borrowed. EX_OK, or a status after a
 * line on stderr: then it is not whole. */
MUST_USE int kv_reader_run(const struct kv_reader *reader, int fd);

#endif
