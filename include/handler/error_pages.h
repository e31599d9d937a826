/*
 * error_pages - the operator's own pages for errors.
 *
 *   404 /404.html
 *   403 410 /gone.html
 *   5xx /sorry.html
 *
 * A page for a status precedes one for its class, in whatever order they are
 * given. The answer keeps its status and fields (Allow, Retry-After, ...); only
 * the body becomes that of the file. If the file cannot be opened, the built-in
 * short page stays.
 *
 * Thread: filled at start; afterwards read only and shared by all.
 * Owns:   nothing; the texts are borrowed.
 */
#ifndef HANDLER_ERROR_PAGES_H
#define HANDLER_ERROR_PAGES_H

#include "files/file_cache.h"
#include "http/exchange.h"

enum {
    ERROR_PAGES_MAX = 32,
    ERROR_PAGE_PATH_MAX = 500,
    ERROR_PAGE_STATUS_MIN = 400,
    ERROR_PAGE_STATUS_COUNT = 200
};

struct error_pages {
    size_t count;
    struct bytes paths[ERROR_PAGES_MAX]; /* clean paths */
    /* For each status and each class: index in paths, from 1; 0: no page. */
    uint8_t of_status[ERROR_PAGE_STATUS_COUNT];
    uint8_t of_class[ERROR_PAGE_STATUS_COUNT / 100];
};

/* Adds a page to an object that was zeroed at first. Returns NULL, or what is
 * wrong with text, to be put behind it. */
MUST_USE const char *error_pages_add(struct error_pages *pages,
                                     struct bytes text);

/* Returns the path of the page for a status; empty: there is none. */
struct bytes error_pages_find(const struct error_pages *pages, unsigned status);

/* Makes a page the body of a response that is_error and not sent yet, if there
 * is one and space has its file. */
void error_pages_apply(const struct error_pages *pages,
                       struct file_cache *cache, const struct file_space *space,
                       struct response *response);

#endif
