/*
 * password_cache - remembers which passwords were right a short while ago.
 *
 * Clients send their password with each request; one check in a minute is
 * enough. The cache keeps no passwords or users, only a hash of the whole
 * question, under a key that never leaves this process.
 *
 * Memory is fixed: small sets of entries. When a set is full, its entry that
 * expires first makes room.
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
        uint64_t until_ms; /* on the monotonic clock; 0: free */
    } entries[PASSWORD_CACHE_SETS][PASSWORD_CACHE_WAYS];
};

/* An empty cache is all zero. */

void password_cache_put(struct password_cache *cache, struct siphash digest,
                        uint64_t now_ms);

bool password_cache_has(const struct password_cache *cache,
                        struct siphash digest, uint64_t now_ms);

#endif
