/*
 * password_cache - remembers which passwords were right recently.
 *
 * Clients send their password with each request, but one check a minute is
 * enough. The cache stores neither passwords nor users, only one hash of both
 * together; the hash's key never leaves this process.
 *
 * The cache has a fixed size: small sets of entries. In a full set, a new entry
 * replaces the one that expires first.
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
        uint64_t until_ms; /* end of the entry's life, monotonic; 0: free */
    } entries[PASSWORD_CACHE_SETS][PASSWORD_CACHE_WAYS];
};

/* An empty cache is all zero. */

void password_cache_put(struct password_cache *cache, struct siphash digest,
                        uint64_t now_ms);

bool password_cache_has(const struct password_cache *cache,
                        struct siphash digest, uint64_t now_ms);

#endif
