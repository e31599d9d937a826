/*
 * sha256 - the digest SHA-256 (FIPS 180-4). Nobody can find two texts with the
 * same digest.
 *
 * Thread: any; no state.
 */
#ifndef IO_SHA256_H
#define IO_SHA256_H

#include "base/bytes.h"

enum { SHA256_BYTES = 32 };

/* Writes the digest of `text`. Returns false when memory is short. */
MUST_USE bool sha256(struct bytes text, uint8_t out[SHA256_BYTES]);

#endif
