/*
 * mounts - prefixes under which every site serves the same: keys or statistics.
 *
 * Options of sites and locations do not apply to mounts: a mount itself decides
 * who has access.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_MOUNTS_H
#define CONFIG_MOUNTS_H

#include "config/options.h"

struct mount_told {
    const char *option;  /* "kv" or "status" */
    struct bytes prefix; /* borrowed from options */
};

/* Finds the mount that serves a path: the mount's prefix is the path itself, or
 * a parent of it. `path` must be clean. Returns false if there is none. */
MUST_USE bool mounts_find(const struct options *options, struct bytes path,
                          struct mount_told *mount_out);

#endif
