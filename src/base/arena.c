#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 4096 };

struct arena_block {
    struct arena_block *before;
    size_t used;
    size_t bytes;
    _Alignas(max_align_t) char data[];
};

static size_t round_up(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

void *arena_take(struct arena *arena, size_t bytes)
{
    struct arena_block *block = arena->last;
    void *taken;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = round_up(bytes);
    if (!block || block->bytes - block->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

        block = calloc(1, sizeof(*block) + room);
        if (!block)
            return NULL;
        block->bytes = room;
        block->before = arena->last;
        arena->last = block;
    }
    taken = block->data + block->used;
    block->used += bytes;
    return taken;
}

char *arena_text(struct arena *arena, struct bytes text)
{
    char *copy = arena_take(arena, text.len + 1);

    if (copy && text.len > 0)
        memcpy(copy, text.data, text.len);
    return copy;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t size)
{
    void *grown;

    if (count > 0 && (count & (count - 1)) != 0)
        return array; /* the array has room up to the next power of two */
    if (count > SIZE_MAX / 4 / size)
        return NULL;
    grown = arena_take(arena, (count > 0 ? 2 * count : 1) * size);
    if (grown && count > 0)
        memcpy(grown, array, count * size);
    return grown;
}

void arena_fini(struct arena *arena)
{
    while (arena->last) {
        struct arena_block *before = arena->last->before;

        free(arena->last);
        arena->last = before;
    }
}
