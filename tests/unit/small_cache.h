/*
 * small_cache - options of a file cache that holds 100 entries, 1 MiB in
 * memory, and 10 open files, so that tests reach its limits.
 */
#ifndef UNIT_SMALL_CACHE_H
#define UNIT_SMALL_CACHE_H

#include "files/file_cache.h"

static inline struct file_cache_options small_cache(const struct mime *mime,
                                                    const struct now *clock)
{
    return (struct file_cache_options){.mime = mime,
                                       .defaults = {.now = clock},
                                       .policy = EVICT_SIEVE,
                                       .bytes_max = 1 << 20,
                                       .entries_max = 100,
                                       .descriptors_max = 10,
                                       .snapshot_bytes = 16384};
}

#endif
