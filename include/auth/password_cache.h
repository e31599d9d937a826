/*
 * password_cache - which passwords have been right a short while ago.
 *
 * Clients send theirs with each request; one check in a minute is enough. What
 * is kept is a hash of all that was asked, under a key that never leaves this
 * process: neither passwords nor users.
 *
 * Memory is fixed. When a small set is full, the password of that set which
 * would have to go first anyway makes room.
 *
 * Thread: one per worker, used by that worker only; no locks.
 */
#ifndef AUTH_PASSWORD_CACHE_H
#define AUTH_PASSWORD_CACHE_H

#include "base/siphash.h"

enum {
    PASSWORD_CACHE_LIFE_MS = 60000,
    PASSWORD_CACHE_SETS = 256,
    PASSWORD_CACHE_WAYS = 4
};

struct password_cache {
    struct password_cache_entry {
        struct siphash digest;
        uint64_t until_ms; /* 0: none */
    } entries[PASSWORD_CACHE_SETS][PASSWORD_CACHE_WAYS];
};

/* An empty cache is all zero. */

void password_cache_put(struct password_cache *cache, struct siphash digest,
                        uint64_t now_ms);

bool password_cache_has(const struct password_cache *cache,
                        struct siphash digest, uint64_t now_ms);

#endif
