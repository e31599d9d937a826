#include "codec/codec_brotli_memory_priv.h"

#include <stddef.h>

/* The header of each block, aligned for all types. */
union block {
    struct list list_node;
    max_align_t alignment;
};

void codec_brotli_memory_begin(struct codec_brotli_memory *memory,
                               struct codec_meter *meter)
{
    memory->meter = meter;
    list_init(&memory->blocks);
}

static void free_block(struct codec_brotli_memory *memory,
                       struct list *list_node)
{
    list_drop(list_node);
    codec_meter_free(memory->meter, list_node);
}

void codec_brotli_memory_end(struct codec_brotli_memory *memory)
{
    while (!list_is_empty(&memory->blocks))
        free_block(memory, memory->blocks.next);
}

void *codec_brotli_allocate(void *context, size_t bytes)
{
    struct codec_brotli_memory *memory = context;
    union block *block = NULL;

    if (bytes <= SIZE_MAX - sizeof(*block))
        block = codec_meter_allocate(memory->meter, sizeof(*block) + bytes);
    if (!block)
        longjmp(memory->failed, 1);
    list_put_last(&memory->blocks, &block->list_node);
    return block + 1;
}

void codec_brotli_free(void *memory, void *block)
{
    if (block)
        free_block(memory, &((union block *)block - 1)->list_node);
}
