#include "base/siphash.h"

#include <endian.h>
#include <errno.h>
#include <sys/random.h>

struct state {
    uint64_t v[4];
};

int siphash_make_key(struct siphash_key *key)
{
    ssize_t n;

    do
        n = getrandom(key->words, sizeof(key->words), 0);
    while (n == -1 && errno == EINTR);
    /* For so few bytes, getrandom() returns either all of them or an error. */
    return n == (ssize_t)sizeof(key->words) ? 0 : -errno;
}

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void mix(struct state *state)
{
    uint64_t *v = state->v;

    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* The rounds are unrolled, since a loop makes the hash 50% slower. */
static inline void take_word(struct state *state, uint64_t word)
{
    state->v[3] ^= word;
    mix(state);
    mix(state);
    state->v[0] ^= word;
}

static inline uint64_t finish(struct state *state)
{
    mix(state);
    mix(state);
    mix(state);
    mix(state);
    return state->v[0] ^ state->v[1] ^ state->v[2] ^ state->v[3];
}

static struct state begin(const struct siphash_key *key)
{
    return (struct state){{key->words[0] ^ 0x736F6D6570736575,
                           key->words[1] ^ 0x646F72616E646F6D,
                           key->words[0] ^ 0x6C7967656E657261,
                           key->words[1] ^ 0x7465646279746573}};
}

struct siphash siphash_of(const struct siphash_key *key, struct bytes text)
{
    struct state state = begin(key);
    uint64_t last = (uint64_t)text.len << 56;
    struct siphash hash;
    uint64_t word;

    state.v[1] ^= 0xEE;
    for (; text.len >= 8; text.data += 8, text.len -= 8) {
        memcpy(&word, text.data, 8);
        take_word(&state, le64toh(word));
    }
    for (size_t i = 0; i < text.len; i++)
        last |= (uint64_t)(unsigned char)text.data[i] << 8 * i;
    take_word(&state, last);
    state.v[2] ^= 0xEE;
    hash.words[0] = finish(&state);
    state.v[1] ^= 0xDD;
    hash.words[1] = finish(&state);
    return hash;
}

/* SipHash-1-3: one round per word, and three rounds at the end. */
uint64_t siphash_of_word(const struct siphash_key *key, uint64_t word)
{
    static const uint64_t last = (uint64_t)sizeof(word) << 56;
    struct state state = begin(key);

    state.v[3] ^= word;
    mix(&state);
    state.v[0] ^= word;
    state.v[3] ^= last;
    mix(&state);
    state.v[0] ^= last;
    state.v[2] ^= 0xFF;
    mix(&state);
    mix(&state);
    mix(&state);
    return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}
