/*
 * static_files - answers requests with files below a root.
 *
 * Answers GET and HEAD, with conditions, ranges, precompressed siblings,
 * directory redirects, indexes and listings; answers OPTIONS; answers every
 * other method with 405. Names that begin with a dot are answered 404, unless
 * show_hidden is set.
 *
 * Thread: one per worker and location; no locks.
 * Owns:   only its own struct. The cache is the site's, and outlives it.
 *         Answers hold references to their files. Listings hold none, and read
 *         directories of the root.
 */
#ifndef HANDLER_STATIC_FILES_H
#define HANDLER_STATIC_FILES_H

#include "files/file_cache.h"
#include "handler/encode.h"
#include "handler/handler.h"
#include "handler/try_files.h"
#include "http/forwarded.h"

/*
 * Judges a file that is sent instead of the one asked for: the index of a
 * directory, a file that try_files finds, a precompressed sibling. Each has a
 * clean path of its own in the same site, to which other rules may apply.
 */
struct file_judge {
    /* Returns whether the file may be sent. If not, the exchange was answered,
     * or waits and will be answered anew. `admits` is NULL if there is no
     * judge. */
    bool (*admits)(void *context, struct exchange *exchange, struct bytes path);
    /* Returns true if the file may be sent without a password or another check.
     * Does not answer the exchange. */
    bool (*is_free)(void *context, const struct exchange *exchange,
                    struct bytes path);
    void *context;
};

struct static_files_options {
    struct file_cache *cache;               /* borrowed */
    const struct server_defaults *defaults; /* borrowed */
    struct file_space space;
    enum send_method send_method;      /* how the cache's files are sent */
    const struct try_files *try_files; /* borrowed; NULL: try only the path */
    struct file_judge judge;
    struct encode encode;                /* how listings are compressed */
    const struct forwarded_trust *trust; /* borrowed; the trusted proxies */
    bool strips_prefix; /* find files by the rest of the path, behind the
                           location's own path */
    bool autoindex;     /* list directories that have no index */
    bool show_hidden;   /* serve names that begin with a dot */
};

struct static_files; /* opaque */

/* Returns NULL when there is no memory. */
MUST_USE struct static_files *static_files_create(
    const struct static_files_options *options);
void static_files_destroy(struct static_files *files);

struct handler static_files_handler(struct static_files *files);

/* Returns the space in which other files, such as error pages, are found. */
const struct file_space *static_files_space(const struct static_files *files);

#endif
