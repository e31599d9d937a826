#include "handler/status/status_page.h"

/* The Makefile makes page.html.inc from page.html, and so on. Such a file has
 * the bytes of the other as numbers. */
static const unsigned char html[] = {
#include "handler/status/status_page/page.html.inc"
};
static const unsigned char style[] = {
#include "handler/status/status_page/style.css.inc"
};
static const unsigned char script[] = {
#include "handler/status/status_page/script.js.inc"
};

struct bytes status_page_html(void)
{
    return (struct bytes){(const char *)html, sizeof(html)};
}

struct bytes status_page_style(void)
{
    return (struct bytes){(const char *)style, sizeof(style)};
}

struct bytes status_page_script(void)
{
    return (struct bytes){(const char *)script, sizeof(script)};
}
