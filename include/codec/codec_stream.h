/*
 * codec_stream - compressors whose input arrives, and whose output leaves,
 * piece by piece.
 *
 *   zstd     window 32 KiB    at most 345 KiB of memory
 *   brotli   window 32 KiB    at most 305 KiB of memory, with little effort
 *   gzip     window 32 KiB    at most 270 KiB of memory
 *
 * A stream may use 400 KiB of memory, which larger windows or more effort would
 * exceed.
 *
 * Thread: the thread that created the stream.
 * Owns:   its memory; a meter counts it if the library allows that.
 */
#ifndef CODEC_CODEC_STREAM_H
#define CODEC_CODEC_STREAM_H

#include "codec/codec.h"

enum { CODEC_STREAM_BYTES_MAX = 400 * 1024 };

enum codec_flush {
    CODEC_GO_ON, /* more input will follow; output may be held back */
    CODEC_FLUSH, /* all input so far is to be in the output afterwards */
    CODEC_END    /* no input follows; the coding ends with the output */
};

struct codec_step {
    struct bytes in; /* the input; step() takes off what it has consumed */
    char *out;       /* where step() writes; it moves `out` behind its output */
    size_t room;     /* how many bytes of room are left at `out` */
};

struct codec_stream {
    /* Compresses step->in to step->out. If room is left afterwards, all input
     * was consumed, and all output that `flush` demands was written. Returns
     * false if there is no memory; the stream can only be destroyed then. */
    bool (*step)(struct codec_stream *stream, struct codec_step *step,
                 enum codec_flush flush);
    void (*destroy)(struct codec_stream *stream);
};

/* Creates a stream. Returns NULL if there is no memory. */
typedef struct codec_stream *(*codec_stream_fn)(struct codec_meter *meter);

MUST_USE struct codec_stream *codec_zstd_stream(struct codec_meter *meter);
MUST_USE struct codec_stream *codec_brotli_stream(struct codec_meter *meter);
MUST_USE struct codec_stream *codec_gzip_stream(struct codec_meter *meter);

#endif
