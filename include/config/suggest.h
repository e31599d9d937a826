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
    size_t least;      /* private: only shorter distances count as near */
    const char *found; /* NULL: no name is near */
};

void suggest_init(struct suggest *suggest, struct bytes name);

/* Remembers `other` if it is near the misspelt name, and nearer than all names
 * before. The distance is the number of characters that must be added, removed
 * or replaced. Up to 2 is near; if the misspelt name has more than eight
 * characters, up to a third of its length is near. A distance of more than half
 * of its length is never near. */
void suggest_consider(struct suggest *suggest, const char *other);

#endif
