/*
 * error_pages - pages of the operator's own for errors.
 *
 *   404 /404.html
 *   403 410 /gone.html
 *   5xx /sorry.html
 *
 * A status by its number comes before one by its class, in whatever order
 * they are given. The answer stays the error it was: status and fields (Allow,
 * Retry-After, ...) are kept, only the body becomes that of the file. When
 * that cannot be had, the short page of every error stays.
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
    struct bytes paths[ERROR_PAGES_MAX]; /* clean */
    /* For each status and each class, which of paths it has, counted from 1; 0:
     * none. */
    uint8_t of_status[ERROR_PAGE_STATUS_COUNT];
    uint8_t of_class[ERROR_PAGE_STATUS_COUNT / 100];
};

/* Adds a page to an object that was all zero at first. NULL, or what is wrong
 * with text, as words to put behind it. */
MUST_USE const char *error_pages_add(struct error_pages *pages,
                                     struct bytes text);

/* The path of the page for a status; empty: none. */
struct bytes error_pages_find(const struct error_pages *pages, unsigned status);

/* Gives a response that is_error, of which nothing has been sent, the page as
 * its body, when there is one and the space has it. */
void error_pages_apply(const struct error_pages *pages,
                       struct file_cache *cache, const struct file_space *space,
                       struct response *response);

#endif
