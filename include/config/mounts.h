/*
 * mounts - what options serve below a prefix in every site alike: keys and
 * statistics.
 *
 * Options of sites and locations do not apply to mounts: a mount decides by
 * itself who may come.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef CONFIG_MOUNTS_H
#define CONFIG_MOUNTS_H

#include "config/options.h"

struct mount_told {
    const char *option;  /* "kv" or "status" */
    struct bytes prefix; /* borrowed of options */
};

/* Finds the mount whose prefix is path, or stands above it; path is clean.
 * False: there is none. */
MUST_USE bool mounts_find(const struct options *options, struct bytes path,
                          struct mount_told *mount_out);

#endif
