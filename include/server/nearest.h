/*
 * nearest - which of some names a misspelt one was meant for.
 *
 * Thread: any; values only.
 * Owns:   nothing.
 */
#ifndef SERVER_NEAREST_H
#define SERVER_NEAREST_H

#include "base/bytes.h"

struct nearest {
    struct bytes name;
    size_t least;      /* private: changes that are too many */
    const char *found; /* NULL: none is near */
};

void nearest_init(struct nearest *nearest, struct bytes name);

/* Keeps other when it is nearer than what came before: at most two changes,
 * or a third of the name, and never more than half of it. */
void nearest_consider(struct nearest *nearest, const char *other);

#endif
