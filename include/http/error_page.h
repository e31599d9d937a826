/*
 * error_page - the built-in HTML pages for errors, which are sent when the site
 * has no page of its own for an error.
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

/* Finds the page of a status from 300 on that has a reason phrase. The page is
 * a static text. Any other status has an empty page. */
struct bytes error_page_find(unsigned status);

/* Writes the page of a status into `page`, and returns a view of the text. */
struct bytes error_page_write(char page[ERROR_PAGE_BYTES_MAX], unsigned status);

#endif
