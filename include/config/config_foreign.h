/*
 * config_foreign - words from configurations of nginx, Caddy, Apache and
 * lighttpd, with their counterparts here: docs/migrate.md in short.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_CONFIG_FOREIGN_H
#define CONFIG_CONFIG_FOREIGN_H

#include "base/bytes.h"

struct config_foreign {
    const char *word;    /* compared without case */
    const char *meaning; /* to put behind "'WORD' is " */
};

extern const struct config_foreign config_foreign_words[];
extern const size_t config_foreign_count;

/* What word corresponds to here; an element of Apache may have its '<' or "</",
 * and '>'. NULL: the word is unknown. */
const char *config_foreign_find(struct bytes word);

#endif
