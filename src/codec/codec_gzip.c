#include <libdeflate.h>

#include "codec/codec.h"

enum { LEVEL_QUICK = 6, LEVEL_SLOW = 9, LEVEL_SLOWEST = 12 };

/* The meter for this thread's allocations. The library has one allocator for
 * all threads, and passes it no context. */
static _Thread_local struct codec_meter *meter;

static void *allocate(size_t bytes)
{
    return meter ? codec_meter_allocate(meter, bytes) : NULL;
}

static void free_memory(void *memory)
{
    if (meter)
        codec_meter_free(meter, memory);
}

static int level_of(const struct codec_order *order)
{
    if (order->effort == CODEC_QUICK)
        return order->text.len <= CODEC_SHORT_BYTES ? LEVEL_SLOWEST
                                                    : LEVEL_QUICK;
    return order->text.len <= CODEC_GZIP_SLOWEST_BYTES ? LEVEL_SLOWEST
                                                       : LEVEL_SLOW;
}

enum codec_result codec_gzip(struct codec_order *order)
{
    struct libdeflate_compressor *compressor;

    if (codec_is_stopped(order))
        return CODEC_STOPPED;
    meter = order->meter;
    compressor = libdeflate_alloc_compressor(level_of(order));
    if (!compressor)
        return CODEC_NO_MEMORY;
    order->out_len = libdeflate_gzip_compress(compressor, order->text.data,
                                              order->text.len, order->out,
                                              order->out_max);
    libdeflate_free_compressor(compressor);
    return order->out_len > 0 ? CODEC_DONE : CODEC_TOO_LARGE;
}

/* The allocator is set for the whole program, before any thread compresses. */
__attribute__((constructor)) static void set_allocator(void)
{
    libdeflate_set_memory_allocator(allocate, free_memory);
}
