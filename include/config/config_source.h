/*
 * config_source - reads the files of a configuration: the first file, and the
 * files that it includes by lines such as
 *
 *   include "sites/?*.conf"
 *
 * Included files are read in the order of their names, in place of the include
 * line. Patterns, and all paths in included files, are relative to the first
 * file's folder.
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
    CONFIG_DEPTH_MAX = 8        /* depth of nested includes */
};

/* Called for each file with its text, which is valid during the call, and the
 * number of its first line. The function may include other files. */
typedef void (*config_file_fn)(void *context, struct bytes text, int line);

/* The state of reading the files. Its owner sets the members that are not
 * private. */
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
    bool is_full; /* a limit was exceeded, which is reported */
};

/* Passes the first file, options->config, to on_file; `text` is its content. */
void config_source_read(struct config_source *source, struct bytes text);

/* Passes the files that match `pattern` to on_file. `line` is the line of the
 * include statement. A file that cannot be included is a fault. */
void config_source_include(struct config_source *source, struct bytes pattern,
                           int line);

#endif
