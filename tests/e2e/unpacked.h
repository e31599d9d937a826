/*
 * unpacked - what other programs make of a body that was compressed.
 *
 * Thread: the test's.
 */
#ifndef E2E_UNPACKED_H
#define E2E_UNPACKED_H

#include "client.h"

enum { WAYS = 3 };

/* The codings, and what unpacks each of them from standard input. */
extern const struct coding_way {
    const char *token;
    const char *program;
} ways[WAYS];

/* So many letters that shrink, freed after the test. */
char *letters(size_t len);

/* "identity" where the reply names none. */
const char *coding_of(const struct reply *reply);

/* The body unpacked, as text that is freed after the test; fails where the
 * reply's coding is none of these. */
const char *unpack(const struct reply *reply, size_t *len_out);

#endif
