/*
 * codec_stream - compressors whose input comes, and output leaves, piece by
 * piece.
 *
 *   zstd     window 32 KiB    at most 345 KiB
 *   brotli   window 32 KiB    at most 305 KiB, with little effort
 *   gzip     window 32 KiB    at most 270 KiB
 *
 * A stream may have 400 KiB of memory; larger windows or more effort need more.
 *
 * Thread: the one that has made it.
 * Owns:   its memory, which a meter counts if the library allows it.
 */
#ifndef CODEC_CODEC_STREAM_H
#define CODEC_CODEC_STREAM_H

#include "codec/codec.h"

enum { CODEC_STREAM_BYTES_MAX = 400 * 1024 };

enum codec_flush {
    CODEC_GO_ON, /* more will follow; output may be held back */
    CODEC_FLUSH, /* all input so far comes out, if there is room */
    CODEC_END    /* likewise; then ends the coding */
};

struct codec_step {
    struct bytes in; /* what was taken is cut off its front */
    char *out;       /* moves on behind the output */
    size_t room;     /* bytes left at out */
};

struct codec_stream {
    /* False: no memory; the stream is useless from then on. If room is left
     * over, in is empty, and all that flush asks for has come out. */
    bool (*step)(struct codec_stream *stream, struct codec_step *step,
                 enum codec_flush flush);
    void (*destroy)(struct codec_stream *stream);
};

/* NULL: no memory. */
typedef struct codec_stream *(*codec_stream_fn)(struct codec_meter *meter);

MUST_USE struct codec_stream *codec_zstd_stream(struct codec_meter *meter);
MUST_USE struct codec_stream *codec_brotli_stream(struct codec_meter *meter);
MUST_USE struct codec_stream *codec_gzip_stream(struct codec_meter *meter);

#endif
