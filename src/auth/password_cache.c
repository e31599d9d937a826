#include "auth/password_cache.h"

void password_cache_put(struct password_cache *cache, struct siphash digest,
                        uint64_t now_ms)
{
    struct password_cache_entry *set =
        cache->entries[digest.words[0] % PASSWORD_CACHE_SETS];
    struct password_cache_entry *slot = set;

    for (size_t i = 0; i < PASSWORD_CACHE_WAYS; i++) {
        if (siphash_eq(set[i].digest, digest)) {
            slot = &set[i];
            break;
        }
        if (set[i].until_ms < slot->until_ms)
            slot = &set[i];
    }
    *slot = (struct password_cache_entry){digest,
                                          now_ms + PASSWORD_CACHE_LIFE_MS};
}

bool password_cache_has(const struct password_cache *cache,
                        struct siphash digest, uint64_t now_ms)
{
    const struct password_cache_entry *set =
        cache->entries[digest.words[0] % PASSWORD_CACHE_SETS];

    for (size_t i = 0; i < PASSWORD_CACHE_WAYS; i++)
        if (set[i].until_ms > now_ms && siphash_eq(set[i].digest, digest))
            return true;
    return false;
}
