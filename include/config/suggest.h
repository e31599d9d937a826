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

/* Remembers `other` as the nearest name if it is near, and nearer than all
 * names before. A name is near if at most two changed characters turn the
 * misspelt name into it, but never more than half of the misspelt name's
 * characters. If the misspelt name has more than eight characters, a third of
 * them may change. */
void suggest_consider(struct suggest *suggest, const char *other);

#endif
