/*
 * siphash - a hash that cannot be foreseen without its key (SipHash-2-4, 128
 * bits).
 *
 * The hash is meant for tables whose keys strangers choose, and for comparing
 * secrets without storing them.
 *
 * Thread: any; values only.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stdint.h>

#include "base/bytes.h"

struct siphash_key {
    uint64_t words[2];
};

struct siphash {
    uint64_t words[2];
};

/* Makes a new random key. Returns 0 or -errno. */
MUST_USE int siphash_make_key(struct siphash_key *key);

struct siphash siphash_of(const struct siphash_key *key, struct bytes text);

/* Hashes the eight octets of `word`, the lowest first, to 64 bits by
 * SipHash-1-3, at a third of the cost of siphash_of(). Use the result as a
 * place in a table, or as a name that is hard to guess, but not to protect a
 * secret. */
uint64_t siphash_of_word(const struct siphash_key *key, uint64_t word);

static inline bool siphash_eq(struct siphash a, struct siphash b)
{
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1])) == 0;
}

#endif
