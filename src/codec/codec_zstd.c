#include <zstd.h>
#include <zstd_errors.h>

#include "codec/codec.h"

/* The slowest level whose window is at most 8 MiB, the largest that clients
 * must support (RFC 9659). */
enum { LEVEL_SLOW = 19 };

/* The quick levels take two milliseconds for short texts, and eleven per MB for
 * long ones. Lower levels would lose to gzip on short pages: 8 KB become 2190
 * bytes with gzip, 2280 with level 3, and 2160 with level 17. */
static const struct {
    size_t bytes_max;
    int level;
} quick_levels[] = {{CODEC_SHORT_BYTES, 17}, {256 << 10, 9}, {SIZE_MAX, 6}};

enum {
    /* With a dictionary of 1 MB, this level compresses 1 MB in 30 ms. The
     * slowest level takes twenty times as long, and saves at most a fifth of
     * the output. */
    LEVEL_DELTA = 9,
    WINDOW_LOG_MIN = 10,
    WINDOW_BYTES_MIN = 8 << 20 /* all clients support it (RFC 9842 5) */
};

static enum codec_result result_of(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return CODEC_NO_MEMORY;
    case ZSTD_error_no_error:
        return CODEC_DONE;
    default: /* other errors are impossible in memory */
        return CODEC_TOO_LARGE;
    }
}

/* Returns the logarithm of the window for a text with a dictionary. Text beyond
 * the window's length cannot use the dictionary, so the window covers the whole
 * text if clients support that. The frame then demands a window of just the
 * text's length, even if the logarithm stands for more (single segment, RFC
 * 8878 3.1.1.1.2). */
static int find_window_log(const struct codec_order *order)
{
    uint64_t most = order->dictionary.len + order->dictionary.len / 4;
    int log = WINDOW_LOG_MIN;

    if (most < WINDOW_BYTES_MIN)
        most = WINDOW_BYTES_MIN;
    while (1ull << log < order->text.len)
        log++;
    while (order->text.len > most && 1ull << log > most)
        log--;
    return log;
}

static enum codec_result set_up_delta(ZSTD_CCtx *context,
                                      const struct codec_order *order)
{
    const struct {
        ZSTD_cParameter name;
        int value;
    } parameters[] = {{ZSTD_c_compressionLevel, LEVEL_DELTA},
                      {ZSTD_c_enableLongDistanceMatching, 1},
                      {ZSTD_c_windowLog, find_window_log(order)}};
    size_t code = ZSTD_CCtx_setPledgedSrcSize(context, order->text.len);

    for (size_t i = 0; i < sizeof(parameters) / sizeof(*parameters); i++)
        if (!ZSTD_isError(code))
            code = ZSTD_CCtx_setParameter(context, parameters[i].name,
                                          parameters[i].value);
    if (!ZSTD_isError(code))
        code = ZSTD_CCtx_refPrefix(context, order->dictionary.data,
                                   order->dictionary.len);
    return result_of(code);
}

static int level_of(const struct codec_order *order)
{
    size_t i = 0;

    if (order->effort == CODEC_SLOW)
        return LEVEL_SLOW;
    while (order->text.len > quick_levels[i].bytes_max)
        i++;
    return quick_levels[i].level;
}

static enum codec_result set_up(ZSTD_CCtx *context,
                                const struct codec_order *order)
{
    size_t code = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
                                         level_of(order));

    if (!ZSTD_isError(code))
        code = ZSTD_CCtx_setPledgedSrcSize(context, order->text.len);
    return result_of(code);
}

static enum codec_result compress_all(ZSTD_CCtx *context,
                                      struct codec_order *order)
{
    ZSTD_outBuffer out = {order->out, order->out_max, 0};
    uint64_t noted = 0;
    enum codec_result result = CODEC_DONE;
    size_t left = 1, at = 0;

    while (result == CODEC_DONE && left > 0) {
        size_t end = order->text.len - at > CODEC_STEP_BYTES
                         ? at + CODEC_STEP_BYTES
                         : order->text.len;
        bool is_last = end == order->text.len;
        ZSTD_inBuffer in = {order->text.data, end, at};

        left = ZSTD_compressStream2(context, &out, &in,
                                    is_last ? ZSTD_e_end : ZSTD_e_continue);
        if (noted == 0) {
            noted = ZSTD_sizeof_CCtx(context);
            codec_meter_add(order->meter, noted);
        }
        at = in.pos;
        if (ZSTD_isError(left))
            result = result_of(left);
        else if (left > 0 && out.pos == out.size)
            result = CODEC_TOO_LARGE;
        else if (codec_is_stopped(order))
            result = CODEC_STOPPED;
        if (!is_last && left == 0)
            left = 1;
    }
    codec_meter_subtract(order->meter, noted);
    order->out_len = out.pos;
    return result;
}

enum codec_result codec_zstd(struct codec_order *order)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    enum codec_result result;

    if (!context)
        return CODEC_NO_MEMORY;
    result = order->dictionary.len > 0 ? set_up_delta(context, order)
                                       : set_up(context, order);
    if (result == CODEC_DONE)
        result = compress_all(context, order);
    ZSTD_freeCCtx(context);
    return result;
}
