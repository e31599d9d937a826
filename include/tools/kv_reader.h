/*
 * kv_reader - a process that reads a store as its owner, for an asker that may
 * be root.
 *
 *   asker  <-- bytes, by a pipe --  reader  -- as the owner -->  store
 *     | writes the bytes to their place
 *
 * A malicious store may take over the process that reads it. The store's owner
 * can stop that process or make it wait for a lock. So the reader inherits only
 * the pipe and standard error from the asker, and is killed when it sends
 * nothing for too long.
 *
 * Thread: the main thread of a process that does nothing else.
 * Owns:   the reader's process.
 */
#ifndef TOOLS_KV_READER_H
#define TOOLS_KV_READER_H

#include "base/bytes.h"

enum { KV_READER_PATIENCE_S = 60 };

struct kv_reader {
    const char *folder;
    unsigned patience_s; /* the reader may send nothing for this long */
    /* Writes the content of the store at `path` to `fd`; runs in the reader's
     * process. Returns 0, or -errno after a line on stderr. */
    int (*read)(const char *path, int fd);
};

/* Starts the reader, and copies all bytes that it sends to `fd`, which is
 * borrowed. Returns EX_OK. If the output is not complete, returns an exit
 * status after a line on stderr. */
MUST_USE int kv_reader_run(const struct kv_reader *reader, int fd);

#endif
