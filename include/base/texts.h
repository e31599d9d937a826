/*
 * texts - a list of borrowed texts, in the order in which they were added.
 *
 * Thread: any; values only.
 * Owns:   nothing. The list lies in an arena; the texts lie there, too, or
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

/* Adds a text. Returns false if there is no memory. A struct texts and its
 * copies share memory, so texts may be added to only one of them; the others
 * keep the texts that they have. */
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
