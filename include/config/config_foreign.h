/*
 * config_foreign - words from configurations of nginx, Caddy, Apache and
 * lighttpd, with their counterparts in sprintd: a short form of
 * docs/migrate.md.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_CONFIG_FOREIGN_H
#define CONFIG_CONFIG_FOREIGN_H

#include "base/bytes.h"

struct config_foreign {
    const char *word;    /* compared ignoring case */
    const char *meaning; /* follows "'WORD' is " in a message */
};

extern const struct config_foreign config_foreign_words[];
extern const size_t config_foreign_count;

/* Returns the meaning of a foreign word; NULL if it is unknown. `word` may be
 * an element of Apache's configuration, with '<' or "</" in front and '>' at
 * the end. */
const char *config_foreign_find(struct bytes word);

#endif
