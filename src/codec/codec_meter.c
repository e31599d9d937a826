#include <stddef.h>
#include <stdlib.h>

#include "codec/codec.h"

/* The header of each block: the block's size, aligned for all types. */
union header {
    size_t bytes;
    max_align_t alignment;
};

void codec_meter_add(struct codec_meter *meter, uint64_t bytes)
{
    unsigned long long now = bytes +
                             atomic_fetch_add_explicit(&meter->bytes, bytes,
                                                       memory_order_relaxed);
    unsigned long long most = atomic_load_explicit(&meter->bytes_max,
                                                   memory_order_relaxed);

    while (most < now &&
           !atomic_compare_exchange_weak_explicit(&meter->bytes_max, &most, now,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

uint64_t codec_meter_read(const struct codec_meter *meter)
{
    return atomic_load_explicit(&meter->bytes, memory_order_relaxed);
}

uint64_t codec_meter_take_max(struct codec_meter *meter)
{
    return atomic_exchange_explicit(&meter->bytes_max, codec_meter_read(meter),
                                    memory_order_relaxed);
}

void codec_meter_subtract(struct codec_meter *meter, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&meter->bytes, bytes, memory_order_relaxed);
}

void *codec_meter_allocate(struct codec_meter *meter, size_t bytes)
{
    union header *header;

    if (bytes > SIZE_MAX - sizeof(*header))
        return NULL;
    header = malloc(sizeof(*header) + bytes);
    if (!header)
        return NULL;
    header->bytes = bytes;
    codec_meter_add(meter, bytes);
    return header + 1;
}

void codec_meter_free(struct codec_meter *meter, void *memory)
{
    union header *header = memory;

    if (!memory)
        return;
    header--;
    codec_meter_subtract(meter, header->bytes);
    free(header);
}
