/*
 * sha256 - a digest, for which nobody finds two texts that have the same one
 * (FIPS 180-4).
 *
 * Thread: any; no state.
 */
#ifndef IO_SHA256_H
#define IO_SHA256_H

#include "base/bytes.h"

enum { SHA256_BYTES = 32 };

/* Writes the digest of text. False: there is no memory. */
MUST_USE bool sha256(struct bytes text, uint8_t out[SHA256_BYTES]);

#endif
