/*
 * config_source - the text of a configuration: a file, cleaned, with others in
 * the place of
 *
 *   include "sites/" followed by a pattern such as *.conf
 *
 * in the order of their names. Each holds whole statements, wherever it is
 * included: at the top, in a site, in a location. Patterns, and all paths in
 * included files, are relative to the folder of the first.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the text lies in the arena it is read with, the names of
 *         files in that of the options.
 */
#ifndef SERVER_CONFIG_SOURCE_H
#define SERVER_CONFIG_SOURCE_H

#include "server/config_line.h"
#include "server/config_text.h"
#include "server/options.h"

enum {
    CONFIG_BYTES_MAX = 4 << 20, /* of all files together */
    CONFIG_DEPTH_MAX = 8        /* files that include one another */
};

/* The word that is no key. */
#define CONFIG_INCLUDE "include"

struct config_source {
    char *text;
    size_t len;
    struct config_piece *pieces; /* the last is empty */
};

/* Reads what text includes, and notes in options which files that are. What
 * cannot be included is a fault, and left out. False: no memory. */
MUST_USE bool config_source_read(struct config_source *source,
                                 struct bytes text, const char *folder,
                                 struct options *options, struct arena *arena,
                                 struct faults *faults);

/* Which line that is of text as a whole, from 1. */
int config_source_line(const struct config_source *source, int number);

/* From its first token on. */
struct config_cursor config_source_cursor(const struct config_source *source);

#endif
