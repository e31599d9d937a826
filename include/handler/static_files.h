/*
 * static_files - answers requests with files below a root.
 *
 * GET and HEAD, with conditions, ranges, precompressed siblings, directory
 * redirects, indexes and listings; OPTIONS; 405 for every other method. Names
 * that begin with a dot are answered 404, unless show_hidden is set.
 *
 * Thread: one per worker and location; no locks.
 * Owns:   nothing but itself: the cache is its site's, and outlives it. Answers
 *         hold references of their own, except listings, which read in the
 *         root.
 */
#ifndef HANDLER_STATIC_FILES_H
#define HANDLER_STATIC_FILES_H

#include "files/file_cache.h"
#include "handler/encode.h"
#include "handler/handler.h"
#include "handler/try_files.h"
#include "http/forwarded.h"

/*
 * Judges files that are sent instead of the one asked for: the index of a
 * directory, what try_files finds, a precompressed sibling. Each has a clean
 * path of its own in the same site, to which other rules may apply.
 */
struct file_judge {
    /* False: exchange was answered, or waits and will be answered anew. NULL:
     * there is no judge. */
    bool (*admits)(void *context, struct exchange *exchange, struct bytes path);
    /* Whether the file needs no password or other check; answers nothing. */
    bool (*is_free)(void *context, const struct exchange *exchange,
                    struct bytes path);
    void *context;
};

struct static_files_options {
    struct file_cache *cache;               /* borrowed */
    const struct server_defaults *defaults; /* borrowed */
    struct file_space space;
    enum send_method send_method;      /* the cache's method */
    const struct try_files *try_files; /* borrowed; NULL: the path only */
    struct file_judge judge;
    struct encode encode;                /* how listings are compressed */
    const struct forwarded_trust *trust; /* borrowed: proxies to believe */
    bool strips_prefix; /* files lie by the path behind the location's */
    bool autoindex;     /* list directories that have no index.html */
    bool show_hidden;   /* serve names that begin with a dot */
};

struct static_files; /* opaque */

/* NULL: no memory. */
MUST_USE struct static_files *static_files_create(
    const struct static_files_options *options);
void static_files_destroy(struct static_files *files);

struct handler static_files_handler(struct static_files *files);

/* Where other files, such as error pages, are looked up. */
const struct file_space *static_files_space(const struct static_files *files);

#endif
