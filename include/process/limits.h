/*
 * limits - what the machine allows: CPUs, memory and descriptors, and how these
 * are shared out.
 *
 * Thread: the main thread's, at start.
 */
#ifndef PROCESS_LIMITS_H
#define PROCESS_LIMITS_H

#include <stdint.h>

#include "base/bytes.h"

struct limits {
    size_t workers;         /* asked for, or one per CPU it may run on */
    size_t cpus;            /* CPUs that the process may run on */
    size_t connections_max; /* of all workers */
    size_t cached_fds_max;  /* open files in the cache, per worker */
    size_t pipes_max;       /* of proxies, per worker */
    size_t kept_files_max;  /* of what proxies have answered, in all */
    uint64_t memory_bytes;  /* machine_memory() */
};

/* Raises RLIMIT_NOFILE to its hard limit and shares the descriptors between
 * connections and cached files: a quarter for files, unless connections_max
 * (0: unsaid) says what connections need. has_proxies: an eighth of all is left
 * for pipes, of the rest half for connections to their servers. 0, or -EMFILE
 * after one line on stderr: they are too few for so many workers and listeners.
 */
MUST_USE int limits_plan(struct limits *limits, size_t workers,
                         size_t listeners, size_t connections_max,
                         bool has_proxies);

/* Half of the descriptors for cached files are for what proxies have
 * answered. */
void limits_share_files(struct limits *limits);

#endif
