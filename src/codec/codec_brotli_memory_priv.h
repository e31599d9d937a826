/*
 * codec_brotli_memory - memory for an encoder that cannot report failed
 * allocations: as usually built, libbrotli ends the process then.
 *
 *   codec_brotli_memory_begin(&memory, meter);
 *   if (setjmp(memory.failed) == 0)
 *       ... calls of the encoder ...
 *   codec_brotli_memory_end(&memory);
 *
 * So a failed allocation does not return into the library: it jumps to where
 * `failed` was set, and the encoder is useless from then on. It need not be
 * destroyed: all that it has allocated is freed with the memory.
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

/* Allocation functions of the library's types; the first argument is the
 * memory. */
void *codec_brotli_allocate(void *context, size_t bytes);
void codec_brotli_free(void *memory, void *block);

#endif
