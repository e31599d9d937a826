/*
 * codec_stream - compressors of what comes piece by piece, and has to leave
 * piece by piece, too.
 *
 *   zstd     window 32 KiB    at most 345 KiB
 *   brotli   window 32 KiB    at most 305 KiB, and so with little effort
 *   gzip     window 32 KiB    at most 270 KiB
 *
 * Larger windows or more effort need more than 400 KiB of memory each, which is
 * what a stream may have.
 *
 * Thread: the one that has made it.
 * Owns:   its memory, which is counted by a meter where the library lets us.
 */
#ifndef CODEC_CODEC_STREAM_H
#define CODEC_CODEC_STREAM_H

#include "codec/codec.h"

enum { CODEC_STREAM_BYTES_MAX = 400 * 1024 };

enum codec_flush {
    CODEC_GO_ON, /* there is more to come: nothing need come out */
    CODEC_FLUSH, /* all that went in comes out, as far as there is room */
    CODEC_END    /* all that went in comes out, and the end of the coding */
};

struct codec_step {
    struct bytes in; /* bytes that have been taken are cut off its front */
    char *out;       /* moves on behind what was written */
    size_t room;     /* bytes of room at out; gets less */
};

struct codec_stream {
    /* False: no memory; the stream is of no use any more. With room left over
     * nothing is left of in, and all that flush asks for has come out. */
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
