/*
 * codec_brotli_memory - memory for libbrotli's encoder, which cannot report a
 * failed allocation: as usually built, the library then ends the process.
 *
 *   codec_brotli_memory_begin(&memory, meter);
 *   if (setjmp(memory.failed) == 0)
 *       ... calls of the encoder ...
 *   codec_brotli_memory_end(&memory);
 *
 * A failed allocation does not return into the library, but jumps to the
 * setjmp() that has set `failed`; the encoder is useless from then on. The
 * encoder need not be destroyed, since codec_brotli_memory_end() frees all that
 * it has allocated.
 *
 * Invariant: the encoder is only called while the function that called setjmp()
 *            is running.
 * Thread:    the encoder's.
 * Owns:      all that the encoder has allocated.
 */
#ifndef CODEC_CODEC_BROTLI_MEMORY_PRIV_H
#define CODEC_CODEC_BROTLI_MEMORY_PRIV_H

#include <setjmp.h>

#include "base/list.h"
#include "codec/codec.h"

struct codec_brotli_memory {
    jmp_buf failed;
    struct codec_meter *meter;
    struct list blocks;
};

void codec_brotli_memory_begin(struct codec_brotli_memory *memory,
                               struct codec_meter *meter);
void codec_brotli_memory_end(struct codec_brotli_memory *memory);

/* The allocation functions that the library calls; their first argument is the
 * struct codec_brotli_memory. */
void *codec_brotli_allocate(void *context, size_t bytes);
void codec_brotli_free(void *memory, void *block);

#endif
