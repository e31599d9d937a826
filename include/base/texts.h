/*
 * texts - a list of borrowed texts, in the order they came.
 *
 * Thread: any; values only.
 * Owns:   nothing: the list lies in an arena, and so do the texts, or they
 *         outlive it.
 */
#ifndef BASE_TEXTS_H
#define BASE_TEXTS_H

#include "base/arena.h"

/* A zeroed list is empty. */
struct texts {
    const char **items;
    size_t count;
};

/* Adds a text. False: no memory. A copy of the struct keeps what it had,
 * whatever is added to the original; do not add to both. */
MUST_USE static inline bool texts_add(struct texts *texts, struct arena *arena,
                                      const char *text)
{
    const char **items = arena_grow(arena, texts->items, texts->count,
                                    sizeof(*items));

    if (!items)
        return false;
    texts->items = items;
    items[texts->count++] = text;
    return true;
}

#endif
