/*
 * sha256 - FIPS 180-4 and base64, for tests: slow, small and on its own.
 */
#ifndef TESTS_SHA256_H
#define TESTS_SHA256_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

static uint32_t sha256_turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* The first 32 bits of the fraction of root. */
static uint32_t sha256_fraction(long double root)
{
    return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

/* The constants are made from the first primes, as 4.2.2 and 5.3.3 say. */
static void sha256_constants(uint32_t state[8], uint32_t k[64])
{
    int found = 0;

    for (int n = 2; found < 64; n++) {
        int divisor = 2;

        while (n % divisor != 0)
            divisor++;
        if (divisor != n)
            continue;
        if (found < 8)
            state[found] = sha256_fraction(sqrtl(n));
        k[found++] = sha256_fraction(cbrtl(n));
    }
}

static void sha256_block(uint32_t state[8], const uint32_t k[64],
                         const unsigned char *block)
{
    uint32_t w[64];
    uint32_t v[8];

    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15];
        uint32_t b = w[i - 2];

        w[i] = w[i - 16] + w[i - 7] +
               (sha256_turn(a, 7) ^ sha256_turn(a, 18) ^ a >> 3) +
               (sha256_turn(b, 17) ^ sha256_turn(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + k[i] + w[i] +
                      (sha256_turn(v[4], 6) ^ sha256_turn(v[4], 11) ^
                       sha256_turn(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6]));
        uint32_t t2 = (sha256_turn(v[0], 2) ^ sha256_turn(v[0], 13) ^
                       sha256_turn(v[0], 22)) +
                      ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

/* The hash of text in base64: 44 characters and NUL. */
static void sha256_base64(struct bytes text, char out[45])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t padded = (text.len + 8) / 64 * 64 + 64;
    unsigned char *data = calloc(1, padded);
    unsigned char hash[33] = {0};
    uint32_t state[8];
    uint32_t k[64];

    if (!data)
        abort();
    sha256_constants(state, k);
    memcpy(data, text.data, text.len);
    data[text.len] = 0x80;
    for (size_t i = 0; i < 8; i++)
        data[padded - 1 - i] = (unsigned char)((uint64_t)text.len * 8 >> 8 * i);
    for (size_t at = 0; at < padded; at += 64)
        sha256_block(state, k, data + at);
    free(data);
    for (int i = 0; i < 32; i++)
        hash[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
    for (int i = 0; i < 11; i++) {
        unsigned three = (unsigned)hash[3 * i] << 16 |
                         (unsigned)hash[3 * i + 1] << 8 | hash[3 * i + 2];

        for (int j = 0; j < 4; j++)
            out[4 * i + j] = digits[three >> (18 - 6 * j) & 63];
    }
    out[43] = '=';
    out[44] = '\0';
}

#endif
