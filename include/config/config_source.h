/*
 * config_source - the files of a configuration: the first, and others in the
 * place of
 *
 *   include "sites/" followed by a pattern such as *.conf
 *
 * in the order of their names. Patterns, and all paths in included files, are
 * relative to the folder of the first.
 *
 * Thread: the main thread's.
 * Owns:   nothing: the names of files lie in the arena of the options.
 */
#ifndef CONFIG_CONFIG_SOURCE_H
#define CONFIG_CONFIG_SOURCE_H

#include "config/config_line.h"
#include "config/faults.h"
#include "config/options.h"

enum {
    CONFIG_BYTES_MAX = 4 << 20, /* of all files together */
    CONFIG_DEPTH_MAX = 8        /* files that include one another */
};

/* Takes the text of a file, which begins at that line and is gone afterwards;
 * may include others on the way. */
typedef void (*config_file_fn)(void *context, struct bytes text, int line);

/* A source of lines, made by its owner with what is above the line. */
struct config_source {
    struct options *options; /* are told the names of files */
    const char *folder;
    struct faults *faults;
    config_file_fn on_file;
    void *context;
    /* private */
    const char *open[1 + CONFIG_DEPTH_MAX]; /* that include one another now */
    size_t depth;
    size_t bytes;
    bool is_full; /* which has been told */
};

/* Hands over the first file, which is options->config and has that text. */
void config_source_read(struct config_source *source, struct bytes text);

/* Hands over the files that pattern stands for, as line asks. What cannot be
 * included is a fault. */
void config_source_include(struct config_source *source, struct bytes pattern,
                           int line);

#endif
