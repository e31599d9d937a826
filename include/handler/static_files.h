/*
 * static_files - answers requests with files below a root.
 *
 * GET and HEAD, with conditions, ranges, precompressed siblings, directory
 * redirects, indexes and listings; OPTIONS; 405 for every other method. What
 * has a name that begins with a dot is answered 404, unless show_hidden is set.
 *
 * Thread: one per worker and location; no locks.
 * Owns:   nothing but itself: the cache is its site's, and outlives it. What
 *         it answers with holds references of its own, but a listing, which
 *         looks into the root.
 */
#ifndef HANDLER_STATIC_FILES_H
#define HANDLER_STATIC_FILES_H

#include "files/file_cache.h"
#include "handler/encode.h"
#include "handler/handler.h"
#include "handler/try_files.h"
#include "http/forwarded.h"

/*
 * Judges files that are sent in the place of what was asked for: the index of a
 * directory, what try_files finds, a precompressed sibling. Each has a path of
 * its own, clean and in its site, for which other rules may have been made.
 */
struct file_judge {
    /* False: exchange has been answered, or waits and is answered anew. NULL:
     * there is no judge. */
    bool (*admits)(void *context, struct exchange *exchange, struct bytes path);
    /* Whether the file can be had without a question; nothing is answered. */
    bool (*is_free)(void *context, const struct exchange *exchange,
                    struct bytes path);
    void *context;
};

struct static_files_options {
    struct file_cache *cache;               /* borrowed */
    const struct server_defaults *defaults; /* borrowed */
    struct file_space space;
    enum send_method send_method;      /* the cache's */
    const struct try_files *try_files; /* borrowed; NULL: the path is all */
    struct file_judge judge;
    struct encode encode;                /* of listings */
    const struct forwarded_trust *trust; /* borrowed: who says https */
    bool strips_prefix; /* files go by what is behind the location's path */
    bool autoindex;     /* list directories that have no index.html */
    bool show_hidden;   /* serve names that begin with a dot */
};

struct static_files; /* opaque */

/* NULL: no memory. */
MUST_USE struct static_files *static_files_create(
    const struct static_files_options *options);
void static_files_destroy(struct static_files *files);

struct handler static_files_handler(struct static_files *files);

/* What is served besides, such as error pages, is looked up there. */
const struct file_space *static_files_space(const struct static_files *files);

#endif
