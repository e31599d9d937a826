/*
 * status_page - the dashboard: a page, its style and its script.
 *
 * The three are files in src/handler/status_page/, which become part of the
 * program when it is built. The page uses only relative addresses (style.css,
 * script.js, status.json, events, metrics, health), so that it works under any
 * path that ends in '/'. The page loads nothing from elsewhere and contains no
 * script or style itself: STATUS_PAGE_POLICY permits all it needs. The script
 * inserts text from clients as text, never as markup.
 *
 * Thread: any; everything is constant.
 */
#ifndef HANDLER_STATUS_STATUS_PAGE_H
#define HANDLER_STATUS_STATUS_PAGE_H

#include "base/bytes.h"

#define STATUS_PAGE_HTML_TYPE "text/html; charset=utf-8"
#define STATUS_PAGE_STYLE_TYPE "text/css; charset=utf-8"
#define STATUS_PAGE_SCRIPT_TYPE "text/javascript; charset=utf-8"

/* The Content-Security-Policy of the page. */
#define STATUS_PAGE_POLICY                                        \
    "default-src 'none'; script-src 'self'; style-src 'self'; "   \
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; " \
    "form-action 'none'; frame-ancestors 'none'"

struct bytes status_page_html(void);
struct bytes status_page_style(void);
struct bytes status_page_script(void);

#endif
