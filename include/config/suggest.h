/*
 * suggest - which of some names a misspelt one was meant for: the "did you
 * mean" behind an unknown option (command_line.c) and an unknown key of the
 * configuration (config_unknown.h).
 *
 * Thread: any; values only.
 * Owns:   nothing.
 */
#ifndef CONFIG_SUGGEST_H
#define CONFIG_SUGGEST_H

#include "base/bytes.h"

struct suggest {
    struct bytes name;
    size_t least;      /* private: changes that are too many */
    const char *found; /* NULL: none is near */
};

void suggest_init(struct suggest *suggest, struct bytes name);

/* Keeps other when it is nearer than what came before: at most two changes,
 * or a third of the name, and never more than half of it. */
void suggest_consider(struct suggest *suggest, const char *other);

#endif
