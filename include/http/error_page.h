/*
 * error_page - the page that a person sees of an error, if the site has none.
 *
 * The page needs no font, picture or script, and can be read even where a
 * policy forbids its style.
 *
 * Thread: any.
 */
#ifndef HTTP_ERROR_PAGE_H
#define HTTP_ERROR_PAGE_H

#include "base/bytes.h"

enum { ERROR_PAGE_BYTES_MAX = 760 };

/* The page of a status from 300 on that has a reason phrase: constant text,
 * which takes no memory of its own. Empty for all other statuses. */
struct bytes error_page_find(unsigned status);

/* Writes that page into page, and returns a view of it. */
struct bytes error_page_write(char page[ERROR_PAGE_BYTES_MAX], unsigned status);

#endif
