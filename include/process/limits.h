/*
 * limits - finds how many CPUs, how many descriptors and how much memory there
 * are, and shares them out.
 *
 * Thread: used only by the main thread, at the start.
 */
#ifndef PROCESS_LIMITS_H
#define PROCESS_LIMITS_H

#include <stdint.h>

#include "base/bytes.h"

struct limits {
    size_t workers;         /* number of workers; one per CPU by default */
    size_t cpus;            /* CPUs that the process may run on */
    size_t connections_max; /* connections of all workers */
    size_t cached_fds_max;  /* open files in the cache of a worker */
    size_t pipes_max;       /* pipes for proxies, per worker */
    size_t kept_files_max;  /* files of the proxy cache, in all */
    uint64_t memory_bytes;  /* the result of machine_memory() */
};

/* Raises RLIMIT_NOFILE to its hard limit and shares out the descriptors: a
 * quarter for cached files, the rest for connections. If connections_max is not
 * 0, connections get connections_max descriptors. With has_proxies, an eighth
 * of all descriptors is for pipes, and half of the connections' part is for
 * connections to upstream servers. Returns 0, or -EMFILE after one line on
 * stderr if there are too few descriptors for the workers and listeners. */
MUST_USE int limits_plan(struct limits *limits, size_t workers,
                         size_t listeners, size_t connections_max,
                         bool has_proxies);

/* Gives half of the descriptors for cached files to the proxy cache. */
void limits_share_files(struct limits *limits);

#endif
