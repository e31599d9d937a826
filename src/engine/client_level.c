#include "engine/client_level.h"

/* Levels are multiples of a quarter of a power of two. A change of the level
 * moves everything that the client waits for, so the level stays until the
 * bytes asked for are an eighth less or a quarter more. */
static uint64_t step(uint64_t level, uint64_t asked)
{
    unsigned shift;

    if (asked >= CLIENT_LEVEL_MAX)
        return CLIENT_LEVEL_MAX;
    if (level - level / 8 <= asked && asked < level + level / 4)
        return level;
    shift = asked < 8 ? 0 : 61u - (unsigned)__builtin_clzll(asked);
    return asked >> shift << shift;
}

uint64_t client_level_next(const struct client_level *level, uint32_t things,
                           bool is_among_others)
{
    uint64_t next = level->small > 1 ? step(level->bytes, level->asked) : 0;
    bool may_change = next < level->bytes ? things <= CLIENT_LEVEL_MANY
                                          : is_among_others;

    return may_change ? next : level->bytes;
}
