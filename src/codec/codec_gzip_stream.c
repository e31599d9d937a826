#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "codec/codec_stream.h"

enum {
    LEVEL = 6,
    WINDOW_BITS = 15,
    AS_GZIP = 16, /* added to windowBits to make zlib write gzip */
    MEMORY_LEVEL = 8
};

struct gzip_stream {
    struct codec_stream stream; /* first, so that both have one address */
    z_stream z;
    bool is_flushed; /* no input has come since the last flush */
};

static void *allocate(void *meter, unsigned count, unsigned bytes)
{
    return codec_meter_allocate(meter, (size_t)count * bytes);
}

static void free_memory(void *meter, void *memory)
{
    codec_meter_free(meter, memory);
}

static bool step(struct codec_stream *stream, struct codec_step *step,
                 enum codec_flush flush)
{
    static const int flushes[] = {[CODEC_GO_ON] = Z_NO_FLUSH,
                                  [CODEC_FLUSH] = Z_SYNC_FLUSH,
                                  [CODEC_END] = Z_FINISH};
    struct gzip_stream *mine = (struct gzip_stream *)stream;
    z_stream *z = &mine->z;
    unsigned taken = step->in.len < UINT_MAX ? (unsigned)step->in.len
                                             : UINT_MAX;
    unsigned room = step->room < UINT_MAX ? (unsigned)step->room : UINT_MAX;
    int result;

    if (taken == 0 && flush == CODEC_FLUSH && mine->is_flushed)
        return true; /* a second flush would write another marker */
    z->next_in = (Bytef *)(uintptr_t)step->in.data;
    z->avail_in = taken;
    z->next_out = (Bytef *)step->out;
    z->avail_out = room;
    result = deflate(z, flushes[flush]);
    if (result == Z_STREAM_ERROR)
        return false;
    mine->is_flushed = flush == CODEC_FLUSH && z->avail_out > 0;
    step->in.data += taken - z->avail_in;
    step->in.len -= taken - z->avail_in;
    step->out += room - z->avail_out;
    step->room -= room - z->avail_out;
    return true;
}

static void destroy(struct codec_stream *stream)
{
    struct gzip_stream *mine = (struct gzip_stream *)stream;

    deflateEnd(&mine->z);
    free(mine);
}

struct codec_stream *codec_gzip_stream(struct codec_meter *meter)
{
    struct gzip_stream *mine = calloc(1, sizeof(*mine));

    if (!mine)
        return NULL;
    mine->stream = (struct codec_stream){.step = step, .destroy = destroy};
    mine->z.zalloc = allocate;
    mine->z.zfree = free_memory;
    mine->z.opaque = meter;
    if (deflateInit2(&mine->z, LEVEL, Z_DEFLATED, WINDOW_BITS + AS_GZIP,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK)
        return &mine->stream;
    free(mine);
    return NULL;
}
