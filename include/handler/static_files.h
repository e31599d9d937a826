/*
 * static_files - answers requests with files below the root.
 *
 * GET and HEAD, with conditions, ranges, precompressed siblings, directory
 * redirects, indexes and listings; OPTIONS; 405 for every other method.
 *
 * Thread: one per worker; no locks.
 * Owns:   its file cache.
 */
#ifndef HANDLER_STATIC_FILES_H
#define HANDLER_STATIC_FILES_H

#include "backend/file_cache.h"
#include "handler/handler.h"

struct static_files_options {
    struct file_cache_options cache;
    bool autoindex;   /* list directories that have no index.html */
    bool show_hidden; /* serve names that begin with a dot */
};

struct static_files; /* opaque */

/* NULL: no memory. */
MUST_USE struct static_files *static_files_create(
    const struct static_files_options *options);
void static_files_destroy(struct static_files *files);

/* Of its cache. */
struct file_cache_counts static_files_count(const struct static_files *files);

/* Makes exchange->response, whose persists, is_head and is_http10 are set.
 * It may clear persists. */
void static_files_answer(struct static_files *files, struct exchange *exchange);

/* The same, for the router. */
struct handler static_files_handler(struct static_files *files);

#endif
