/*
 * suggest - finds the name nearest to a misspelt one: the "did you mean" behind
 * an unknown option (command_line.c) or an unknown key of the configuration
 * (config_unknown.h).
 *
 * Thread: any; values only.
 * Owns:   nothing.
 */
#ifndef CONFIG_SUGGEST_H
#define CONFIG_SUGGEST_H

#include "base/bytes.h"

struct suggest {
    struct bytes name;
    size_t least;      /* private: distance that is too far */
    const char *found; /* NULL: no name is near */
};

void suggest_init(struct suggest *suggest, struct bytes name);

/* Notes other if it is nearer than all before: at most two changes, or a third
 * of the name, and never more than half of it. */
void suggest_consider(struct suggest *suggest, const char *other);

#endif
