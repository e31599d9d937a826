/*
 * config_foreign - words of the configurations of nginx, Caddy, Apache and
 * lighttpd, and what says the same here: docs/migrate.md in short.
 *
 * Thread: any; constant.
 */
#ifndef CONFIG_CONFIG_FOREIGN_H
#define CONFIG_CONFIG_FOREIGN_H

#include "base/bytes.h"

struct config_foreign {
    const char *word;    /* in letters of either case */
    const char *meaning; /* to put behind "'WORD' is " */
};

extern const struct config_foreign config_foreign_words[];
extern const size_t config_foreign_count;

/* What word is here; an element of Apache's may have its '<' or "</", and '>'.
 * NULL: nobody's word. */
const char *config_foreign_find(struct bytes word);

#endif
