/*
 * config_source - reads the files of a configuration: the first, and others
 * that replace lines such as
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
    CONFIG_BYTES_MAX = 4 << 20, /* bytes of all files together */
    CONFIG_DEPTH_MAX = 8        /* depth of files that include one another */
};

/* Is given the text of a file, valid during the call, and the number of its
 * first line. It may include other files meanwhile. */
typedef void (*config_file_fn)(void *context, struct bytes text, int line);

/* Reads the files. Its owner sets the fields above "private". */
struct config_source {
    struct options *options; /* gets the names of the files */
    const char *folder;
    struct faults *faults;
    config_file_fn on_file;
    void *context;
    /* private */
    const char *open[1 + CONFIG_DEPTH_MAX]; /* the files being read now */
    size_t depth;
    size_t bytes;
    bool is_full; /* CONFIG_BYTES_MAX is used up and reported */
};

/* Hands over the first file: options->config, with that text. */
void config_source_read(struct config_source *source, struct bytes text);

/* Hands over the files that match pattern, for the include on line. A file that
 * cannot be included is a fault. */
void config_source_include(struct config_source *source, struct bytes pattern,
                           int line);

#endif
