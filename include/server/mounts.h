/*
 * mounts - what options serve below a prefix in every site alike: keys and
 * statistics.
 *
 * Nothing that a site or a location says reaches them, as they ask themselves
 * who may come.
 *
 * Thread: the main thread's.
 * Owns:   nothing.
 */
#ifndef SERVER_MOUNTS_H
#define SERVER_MOUNTS_H

#include "server/options.h"

struct mount_told {
    const char *option;  /* "kv" or "status" */
    struct bytes prefix; /* borrowed of options */
};

/* The one that path, which is clean, is the prefix of, or lies below. False:
 * there is none. */
MUST_USE bool mounts_find(const struct options *options, struct bytes path,
                          struct mount_told *mount_out);

#endif
