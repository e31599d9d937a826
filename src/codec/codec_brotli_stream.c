#include <brotli/encode.h>
#include <stdlib.h>

#include "codec/codec_brotli_memory_priv.h"
#include "codec/codec_stream.h"

enum { QUALITY = 1, WINDOW_BITS = 15 };

struct brotli_stream {
    struct codec_stream stream; /* first, so that both have one address */
    BrotliEncoderState *state;
    struct codec_brotli_memory memory;
};

/* Calls the encoder; a failed allocation jumps to memory.failed. */
static bool compress(struct brotli_stream *mine, struct codec_step *step,
                     BrotliEncoderOperation operation)
{
    const uint8_t *in = (const uint8_t *)step->in.data;
    uint8_t *out = (uint8_t *)step->out;

    do {
        if (!BrotliEncoderCompressStream(mine->state, operation, &step->in.len,
                                         &in, &step->room, &out, NULL))
            return false;
    } while (step->room > 0 &&
             (step->in.len > 0 || BrotliEncoderHasMoreOutput(mine->state)));
    step->in.data = (const char *)in;
    step->out = (char *)out;
    return true;
}

static bool step(struct codec_stream *stream, struct codec_step *step,
                 enum codec_flush flush)
{
    static const BrotliEncoderOperation operations[] = {
        [CODEC_GO_ON] = BROTLI_OPERATION_PROCESS,
        [CODEC_FLUSH] = BROTLI_OPERATION_FLUSH,
        [CODEC_END] = BROTLI_OPERATION_FINISH};
    struct brotli_stream *mine = (struct brotli_stream *)stream;

    return setjmp(mine->memory.failed) == 0 &&
           compress(mine, step, operations[flush]);
}

static void destroy(struct codec_stream *stream)
{
    struct brotli_stream *mine = (struct brotli_stream *)stream;

    codec_brotli_memory_end(&mine->memory);
    free(mine);
}

static bool set_up(struct brotli_stream *mine)
{
    mine->state = BrotliEncoderCreateInstance(codec_brotli_allocate,
                                              codec_brotli_free, &mine->memory);
    return mine->state &&
           BrotliEncoderSetParameter(mine->state, BROTLI_PARAM_QUALITY,
                                     QUALITY) &&
           BrotliEncoderSetParameter(mine->state, BROTLI_PARAM_LGWIN,
                                     WINDOW_BITS);
}

/* Begins a stream. Returns false if there is no memory. */
static bool begin(struct brotli_stream *mine)
{
    return setjmp(mine->memory.failed) == 0 && set_up(mine);
}

struct codec_stream *codec_brotli_stream(struct codec_meter *meter)
{
    struct brotli_stream *mine = calloc(1, sizeof(*mine));

    if (!mine)
        return NULL;
    mine->stream = (struct codec_stream){.step = step, .destroy = destroy};
    codec_brotli_memory_begin(&mine->memory, meter);
    if (begin(mine))
        return &mine->stream;
    destroy(&mine->stream);
    return NULL;
}
