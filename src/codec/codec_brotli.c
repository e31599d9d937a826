#include <brotli/encode.h>

#include "codec/codec_brotli_memory_priv.h"

/* With quality 5 the output is smaller than that of the other codings, for
 * texts of any size. Short texts could have more time. But the next quality
 * that gains enough is 10, and it takes ten times as long. So CODEC_QUICK
 * always uses quality 5. */
enum { QUALITY_QUICK = 5, QUALITY_SLOW = 11, WINDOW_BITS = 22 };

static bool set_up(BrotliEncoderState *state, const struct codec_order *order)
{
    uint32_t quality = order->effort == CODEC_SLOW ? QUALITY_SLOW
                                                   : QUALITY_QUICK;

    return BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, quality) &&
           BrotliEncoderSetParameter(state, BROTLI_PARAM_LGWIN, WINDOW_BITS) &&
           BrotliEncoderSetParameter(state, BROTLI_PARAM_SIZE_HINT,
                                     (uint32_t)order->text.len);
}

static enum codec_result compress_all(BrotliEncoderState *state,
                                      struct codec_order *order)
{
    const uint8_t *in = (const uint8_t *)order->text.data;
    uint8_t *out = (uint8_t *)order->out;
    size_t left = order->text.len, room = order->out_max;

    for (;;) {
        size_t step = left > CODEC_STEP_BYTES ? CODEC_STEP_BYTES : left;
        bool is_last = step == left;
        size_t step_left = step;

        if (!BrotliEncoderCompressStream(state,
                                         is_last ? BROTLI_OPERATION_FINISH
                                                 : BROTLI_OPERATION_PROCESS,
                                         &step_left, &in, &room, &out, NULL))
            return CODEC_NO_MEMORY;
        left -= step - step_left;
        if (BrotliEncoderIsFinished(state)) {
            order->out_len = order->out_max - room;
            return CODEC_DONE;
        }
        if (room == 0)
            return CODEC_TOO_LARGE;
        if (codec_is_stopped(order))
            return CODEC_STOPPED;
    }
}

/* Compresses with a new encoder. The caller frees the encoder's memory. */
static enum codec_result compress(struct codec_order *order,
                                  struct codec_brotli_memory *memory)
{
    BrotliEncoderState *state =
        BrotliEncoderCreateInstance(codec_brotli_allocate, codec_brotli_free,
                                    memory);

    return state && set_up(state, order) ? compress_all(state, order)
                                         : CODEC_NO_MEMORY;
}

enum codec_result codec_brotli(struct codec_order *order)
{
    struct codec_brotli_memory memory;
    volatile enum codec_result result = CODEC_NO_MEMORY;

    codec_brotli_memory_begin(&memory, order->meter);
    if (setjmp(memory.failed) == 0)
        result = compress(order, &memory);
    codec_brotli_memory_end(&memory);
    return result;
}
