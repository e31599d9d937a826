#include <stdlib.h>
#include <zstd.h>

#include "codec/codec_stream.h"

/* The output is flushed after each BLOCK_BYTES of input, which take 50 us.
 * Without flushes the library would collect as much input as its window holds,
 * and compress it all at once in a quarter of a millisecond. The flushes also
 * make the output 3 to 5 % smaller, since each block gets codes of its own. */
enum { LEVEL = 3, WINDOW_LOG = 15, HASH_LOG = 14, CHAIN_LOG = 13 };
enum { BLOCK_BYTES = 8192 };

struct zstd_stream {
    struct codec_stream stream; /* first, so that both have one address */
    ZSTD_CCtx *context;
    struct codec_meter *meter;
    size_t noted;    /* how many bytes the meter has counted */
    size_t gathered; /* bytes in the block since its last flush */
};

static void note(struct zstd_stream *mine)
{
    size_t bytes = ZSTD_sizeof_CCtx(mine->context);

    codec_meter_subtract(mine->meter, mine->noted);
    codec_meter_add(mine->meter, bytes);
    mine->noted = bytes;
}

/* Limits `in` to the input that still fits into the present block. Returns what
 * the library has to do behind that input. */
static ZSTD_EndDirective direct(const struct zstd_stream *mine,
                                ZSTD_inBuffer *in, size_t len,
                                enum codec_flush flush)
{
    static const ZSTD_EndDirective directives[] = {
        [CODEC_GO_ON] = ZSTD_e_continue,
        [CODEC_FLUSH] = ZSTD_e_flush,
        [CODEC_END] = ZSTD_e_end};
    size_t most = BLOCK_BYTES - mine->gathered;

    if (len - in->pos < most) {
        in->size = len;
        return directives[flush];
    }
    in->size = in->pos + most;
    return in->size == len && flush == CODEC_END ? ZSTD_e_end : ZSTD_e_flush;
}

/* Compresses one step. A full block is flushed before more input is taken:
 * until all its output has been written, `in` does not advance. */
static bool step(struct codec_stream *stream, struct codec_step *step,
                 enum codec_flush flush)
{
    struct zstd_stream *mine = (struct zstd_stream *)stream;
    ZSTD_inBuffer in = {step->in.data, step->in.len, 0};
    ZSTD_outBuffer out = {step->out, step->room, 0};
    ZSTD_EndDirective directive;
    size_t left, before;

    do {
        directive = direct(mine, &in, step->in.len, flush);
        before = in.pos;
        left = ZSTD_compressStream2(mine->context, &out, &in, directive);
        if (ZSTD_isError(left))
            return false;
        mine->gathered += in.pos - before;
        if (directive != ZSTD_e_continue && left == 0)
            mine->gathered = 0;
    } while (out.pos < out.size &&
             (in.pos < step->in.len ||
              (directive != ZSTD_e_continue && left > 0)));
    if (mine->noted == 0)
        note(mine);
    step->in.data += in.pos;
    step->in.len -= in.pos;
    step->out += out.pos;
    step->room -= out.pos;
    return true;
}

static void destroy(struct codec_stream *stream)
{
    struct zstd_stream *mine = (struct zstd_stream *)stream;

    codec_meter_subtract(mine->meter, mine->noted);
    ZSTD_freeCCtx(mine->context);
    free(mine);
}

static bool set_up(ZSTD_CCtx *context)
{
    static const struct {
        ZSTD_cParameter parameter;
        int value;
    } settings[] = {{ZSTD_c_compressionLevel, LEVEL},
                    {ZSTD_c_windowLog, WINDOW_LOG},
                    {ZSTD_c_hashLog, HASH_LOG},
                    {ZSTD_c_chainLog, CHAIN_LOG}};

    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        if (ZSTD_isError(ZSTD_CCtx_setParameter(context, settings[i].parameter,
                                                settings[i].value)))
            return false;
    return true;
}

struct codec_stream *codec_zstd_stream(struct codec_meter *meter)
{
    struct zstd_stream *mine = calloc(1, sizeof(*mine));

    if (!mine)
        return NULL;
    mine->stream = (struct codec_stream){.step = step, .destroy = destroy};
    mine->meter = meter;
    mine->context = ZSTD_createCCtx();
    if (mine->context && set_up(mine->context))
        return &mine->stream;
    destroy(&mine->stream);
    return NULL;
}
