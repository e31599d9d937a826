/*
 * error_pages - the operator's own pages for errors.
 *
 *   404 /404.html
 *   403 410 /gone.html
 *   5xx /sorry.html
 *
 * A page for one status is preferred to a page for the class of that status, in
 * whatever order the two are given. The answer keeps its status and its fields
 * (Allow, Retry-After, ...); only the body is replaced, by the file. If the
 * file cannot be opened, the built-in short page stays.
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
    /* For each status and each class: the number of its page in `paths`,
     * counted from 1, or 0 if there is no page. */
    uint8_t of_status[ERROR_PAGE_STATUS_COUNT];
    uint8_t of_class[ERROR_PAGE_STATUS_COUNT / 100];
};

/* Adds a page to an object that was zeroed at first. Returns NULL, or what is
 * wrong: a message that the caller prints behind `text`. */
MUST_USE const char *error_pages_add(struct error_pages *pages,
                                     struct bytes text);

/* Returns the path of the page for a status, or an empty path if there is no
 * page. */
struct bytes error_pages_find(const struct error_pages *pages, unsigned status);

/* Replaces the body of a response by the operator's page for its status, if
 * there is such a page and its file is found in `space`. The response must have
 * is_error set, and must not have been sent yet. */
void error_pages_apply(const struct error_pages *pages,
                       struct file_cache *cache, const struct file_space *space,
                       struct response *response);

#endif
