/*
 * error_page - what a person sees of an error that has no page of its site's.
 *
 * It needs nothing else: no font, picture or script, and with a policy that
 * forbids its style it can be read all the same.
 *
 * Thread: any.
 */
#ifndef HTTP_ERROR_PAGE_H
#define HTTP_ERROR_PAGE_H

#include "base/bytes.h"

enum { ERROR_PAGE_BYTES_MAX = 760 };

/* The page of a status from 300 on that has a reason phrase: it lies there for
 * good, and takes no memory. Empty: of any other. */
struct bytes error_page_find(unsigned status);

/* Writes the page; what is returned lies in it. */
struct bytes error_page_write(char page[ERROR_PAGE_BYTES_MAX], unsigned status);

#endif
